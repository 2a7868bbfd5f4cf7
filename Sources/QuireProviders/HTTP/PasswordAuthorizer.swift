import QuireCore
import Synchronization

/// A user's name and password, given as the server asks for them: Digest (RFC 7616) where it offers that, else Basic
/// (RFC 7617).
///
/// Until the server has asked, nothing is given over an unencrypted connection and Basic over an encrypted one; so the
/// first request of a connection without TLS costs one more round trip. A Digest nonce is used again, with a counter,
/// until the server calls it stale.
package final class PasswordAuthorizer: HTTPAuthorizer {
    private enum Scheme {
        case unknown
        case basic
        case digest(DigestChallenge, count: Int)
    }

    private let user: String
    private let password: String
    /// Innermost lock.
    private let scheme = Lock(Scheme.unknown)

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    package func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) {
        let value = scheme.withLock { scheme -> String? in
            switch scheme {
            case .unknown: return origin.isSecure ? basic : nil
            case .basic: return basic
            case .digest(let challenge, let count):
                scheme = .digest(challenge, count: count + 1)
                return challenge.answer(user: user, password: password, request, count: count + 1)
            }
        }
        request.fields["Authorization"] = value
    }

    package func learns(from refusal: HTTPAnswer, to request: HTTPRequest) -> Bool {
        guard refusal.status == 401 else { return false }
        let offers = refusal.fields.values(of: "WWW-Authenticate").flatMap(AuthenticationChallenge.parse)
        let digest = offers.lazy.compactMap(DigestChallenge.init).max { $0.strength < $1.strength }
        return scheme.withLock { scheme in
            if let digest {
                // The same nonce again without the word that it is stale: the password is wrong.
                if case .digest(let known, _) = scheme, known.nonce == digest.nonce, !digest.isStale { return false }
                let wasRefused = request.fields["Authorization"]?.hasPrefix("Digest ") ?? false
                scheme = .digest(digest, count: 0)
                return !wasRefused || digest.isStale
            }
            guard offers.contains(where: { $0.scheme == "basic" }) else { return false }
            scheme = .basic
            return request.fields["Authorization"] != basic
        }
    }

    private var basic: String { "Basic \(Base64.encode(Array("\(user):\(password)".utf8)))" }
}
