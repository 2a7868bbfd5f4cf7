import QuireCore
import QuireProviders

/// Passwords and tokens of providers, each in one place: a file of the home, or the user's Secret Service. Never in the
/// configuration, in an argument, or in a message.
struct ProviderSecrets: Sendable {
    private let home: String
    private let files: SecretFiles
    private let service: SecretService
    /// Where the service is waited for.
    private static let pool = PoolExecutor(label: "quire-secrets", width: 2, niceness: 0)

    init(home: String, service: SecretService = .ofThisUser) {
        self.home = home
        self.service = service
        files = SecretFiles(home: home)
    }

    /// Where to get a provider's secret: at once from its file; from the service when the provider is first asked for
    /// something, and again until it gives it.
    ///
    /// - Throws: `.failed` where others may read the file, or it cannot be read.
    func source(of provider: Configuration.Provider) throws(QuireError) -> SecretSource {
        guard provider.secretPlace == .service else { return .known(try files.secret(of: provider.name)) }
        let (service, attributes) = (service, attributes(provider.name))
        return .asked { () async throws(ProviderError) in
            do throws(QuireError) {
                return try await Self.pool.run { () throws(QuireError) in try service.secret(attributes) }
            } catch {
                throw ProviderError(.unavailable, error.remedy.map { "\(error.message). \($0)" } ?? error.message)
            }
        }
    }

    /// Keeps the provider's secret, for good when this returns.
    ///
    /// - Parameter place: nil: the service where one answers, else a file.
    /// - Returns: where it is.
    /// - Throws: `.usage` for a secret that cannot be one; `.failed`, `.unavailable`.
    func keep(
        _ secret: String, of name: String, in place: SetupMethods.SecretPlace?
    ) async throws(QuireError) -> SetupMethods.SecretPlace {
        try Self.check(secret)
        let (service, files, attributes) = (service, files, attributes(name))
        return try await Self.pool.run { () throws(QuireError) in
            let place = place ?? (service.isAnswering ? .service : .file)
            switch place {
            case .file: try files.keep(secret, of: name)
            case .service: try service.keep(secret, attributes)
            }
            return place
        }
    }

    /// Forgets the provider's secret; nothing happens where none is kept.
    func remove(of name: String, in place: SetupMethods.SecretPlace?) async throws(QuireError) {
        let (service, files, attributes) = (service, files, attributes(name))
        try await Self.pool.run { () throws(QuireError) in
            switch place ?? .file {
            case .file: try files.remove(of: name)
            case .service: try service.remove(attributes)
            }
        }
    }

    private func attributes(_ name: String) -> SecretService.Attributes { .init(home: home, provider: name) }

    /// - Throws: `.usage` for what cannot be a secret.
    static func check(_ secret: String) throws(QuireError) {
        guard secret.utf8.count < SecretFiles.limit, !secret.isEmpty, !secret.utf8.contains(where: { $0 < 0x20 }) else {
            throw QuireError(.usage, "a secret is one line of text, of 1 to \(SecretFiles.limit - 1) bytes")
        }
    }
}
