import QuireCore
import QuireProviders

/// Has another secret used for a provider than before.
struct SecretRenewal: Sendable {
    /// A secret that is to be used.
    struct Change: Sendable {
        let provider: String
        /// In no message and no log.
        let secret: String
        let place: SetupMethods.SecretPlace
        /// The provider's URL from then on, which names another access key; nil where it stays.
        var url: String?
    }

    /// The configuration that the drive runs with, or would.
    let configuration: @Sendable () async -> Configuration
    /// What a provider's store calls itself, as far as is known.
    let known: @Sendable (Configuration.Provider) async throws -> String?
    /// Makes sure that a secret leads to the store that is known.
    var trial:
        @Sendable (QuireProviders.ProviderURL, _ secret: String, _ known: String?) async throws(QuireError) -> Void = {
            (url, secret, known) async throws(QuireError) in
            try await ProviderTrial(url: url, secret: secret).requireStore(known)
        }
    /// Has it used from now on, once its second argument has kept it. Where that throws, nothing changes.
    let use: @Sendable (Change, @escaping @Sendable () async throws -> Void) async throws -> Void

    /// What is to be used, of a secret that was tried.
    ///
    /// - Throws: `.usage` for a provider that takes none, and for none; `.unavailable` where it is refused, or leads to another
    ///   store than the provider's.
    func tried(_ asked: SetupMethods.ProviderSecret.Parameters) async throws -> Change {
        guard let provider = await configuration().provider(named: asked.name) else {
            throw QuireError.noProvider(named: asked.name)
        }
        var url = try QuireProviders.ProviderURL(provider.url)
        try Self.requireSecret(of: provider.name, url)
        try ProviderSecrets.check(asked.secret)
        if let key = asked.accessKey { url = try url.withAccessKey(key) }
        if let other = await configuration().providers.first(where: { $0.url == "\(url)" && $0.name != provider.name })
        {
            throw QuireError(.usage, "\(other.name) is at \(url) already", remedy: "Give another access key")
        }
        try await trial(url, asked.secret, try await known(provider))
        return Change(
            provider: provider.name, secret: asked.secret, place: asked.secretPlace ?? provider.secretPlace ?? .file,
            url: "\(url)" == provider.url ? nil : "\(url)")
    }

    /// - Throws: `.usage` where Quire keeps no secret for what is at the URL.
    static func requireSecret(of name: String, _ url: QuireProviders.ProviderURL) throws(QuireError) {
        guard !url.wantsSecret else { return }
        throw url.isRemote
            ? QuireError(
                .usage, "the environment or ~/.aws/credentials has the secret of \(name), not Quire",
                remedy: "Renew it there: it is read again when it is refused")
            : QuireError(
                .usage, "\(name) is a folder, which takes no secret", remedy: "Its permissions decide who may use it")
    }
}
