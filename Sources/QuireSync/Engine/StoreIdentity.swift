package import QuireCore

/// Which store a provider's is, wherever that is kept.
package protocol StoreIdentity: Sendable {
    /// What it has to call itself; nil before it was first connected.
    func known() throws(QuireError) -> String?
    /// Keeps what it calls itself, for good when this returns.
    func note(_ identity: String) async throws(QuireError)
}

extension SyncedContainer {
    /// Connects the provider, whose store must be the one that it was; the first one is kept in mind.
    ///
    /// - Throws: what the provider does; `.unavailable` where it cannot be told which store is meant.
    package func connect() async throws(ProviderError) {
        let expected = try await Self.told { () throws(QuireError) in try identity.known() }
        let found = try await provider.connect(expected: expected)
        try await Self.told { () async throws(QuireError) in try await identity.note(found) }
    }

    /// What there is to do about another store than before, for people.
    package static func resetRemedy(_ provider: String) -> String {
        "Where it was begun anew and the former one is gone for good: `quire provider reset \(provider)`"
    }

    /// A provider's error, with what the user can do where another store is there than before, or the secret is refused.
    package func remedied(_ error: ProviderError) -> ProviderError {
        if error.isOtherStore {
            return ProviderError(
                error.code, "\(error.message). \(Self.resetRemedy(providerName))", cause: error.cause,
                isOtherStore: true)
        }
        guard error.isSecretRefused else { return error }
        return ProviderError(
            error.code, "\(error.message); renew it: `quire provider secret \(providerName)`", cause: error.cause,
            isSecretRefused: true)
    }

    /// Under which the index keeps up to where the changes of a container's provider are known.
    package static func cursorKey(of container: ContainerID) -> String { "cursor.\(container)" }
    var cursorKey: String { Self.cursorKey(of: id) }

    /// Under which the index keeps how a provider of that name was found to keep devices from overwriting each other.
    package static func conditionsKey(of provider: String) -> String { "provider.conditions.\(provider)" }

    /// Under which it keeps what a provider of that name has decided: `DocumentProvider.decision`.
    package static func decisionKey(of provider: String) -> String { "provider.decision.\(provider)" }

    private static func told<Value: Sendable>(
        _ body: () async throws(QuireError) -> Value
    ) async throws(ProviderError) -> Value {
        do {
            return try await body()
        } catch {
            throw ProviderError(.unavailable, error.remedy.map { "\(error.message). \($0)" } ?? error.message)
        }
    }
}
