package import QuireCore

/// Proves to a server who asks: signs each request just before it is sent.
///
/// Called concurrently from any task. What it adds is never logged and in no message.
package protocol HTTPAuthorizer: Sendable {
    /// Adds its fields to `request`. Called anew for every try, so that dates and nonces are fresh.
    func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) async throws(ProviderError)

    /// Whether after a refusal (400, 401 or 403) another try is worthwhile: it told a challenge, or the server's clock, or
    /// there is something else to prove with by now. Called once for each request.
    func learns(from refusal: HTTPAnswer, to request: HTTPRequest) async -> Bool
}

/// A user's name and password (RFC 7617), or a bearer token (RFC 6750), in every request.
package struct FixedAuthorizer: HTTPAuthorizer {
    private let value: String

    private init(value: String) { self.value = value }

    /// Basic: `user` may not hold a colon.
    package static func basic(user: String, password: String) -> FixedAuthorizer {
        FixedAuthorizer(value: "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))")
    }

    package static func bearer(token: String) -> FixedAuthorizer { FixedAuthorizer(value: "Bearer \(token)") }

    package func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) {
        request.fields["Authorization"] = value
    }

    package func learns(from refusal: HTTPAnswer, to request: HTTPRequest) -> Bool { false }
}

/// Where a provider's secret comes from.
package enum SecretSource: Sendable {
    /// A password or token; nil where there is none.
    case known(String?)
    /// Somebody else keeps it, who is asked before the first request, and before each until it is given.
    case asked(@Sendable () async throws(ProviderError) -> String)

    /// The authorizer that `make` makes of the secret.
    func authorizer(_ make: @escaping @Sendable (String?) -> (any HTTPAuthorizer)?) -> (any HTTPAuthorizer)? {
        switch self {
        case .known(let secret): make(secret)
        case .asked(let ask): LateAuthorizer(ask: ask, make: make)
        }
    }
}
