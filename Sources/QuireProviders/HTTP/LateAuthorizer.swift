import QuireCore
import Synchronization

/// An authorizer that asks for its secret with the first request. Without it nothing is sent: that request fails as the
/// asking does, and the next asks again.
final class LateAuthorizer: HTTPAuthorizer {
    private let ask: @Sendable () async throws(ProviderError) -> String
    private let make: @Sendable (String?) -> (any HTTPAuthorizer)?
    /// Innermost lock.
    private let made = Lock<(any HTTPAuthorizer)?>(nil)

    init(
        ask: @escaping @Sendable () async throws(ProviderError) -> String,
        make: @escaping @Sendable (String?) -> (any HTTPAuthorizer)?
    ) {
        self.ask = ask
        self.make = make
    }

    func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) async throws(ProviderError) {
        try await authorizer()?.authorize(&request, at: origin)
    }

    func learns(from refusal: HTTPAnswer, to request: HTTPRequest) async -> Bool {
        await made.withLock { $0 }?.learns(from: refusal, to: request) ?? false
    }

    /// Two that ask at once get the same one.
    private func authorizer() async throws(ProviderError) -> (any HTTPAuthorizer)? {
        if let made = made.withLock({ $0 }) { return made }
        let new = make(try await ask())
        return made.withLock { made in
            made = made ?? new
            return made
        }
    }
}
