import Crypto
import QuireCore

/// A Digest challenge that can be answered (RFC 7616): MD5 or SHA-256, with `qop=auth` or without any.
struct DigestChallenge {
    let nonce: String
    /// The password was right, the nonce too old.
    let isStale: Bool
    private let realm: String
    private let opaque: String?
    private let algorithm: String?
    private let hasQuality: Bool

    /// Nil for another scheme, and for algorithms and qualities that this does not know.
    init?(_ challenge: AuthenticationChallenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let nonce = parameters["nonce"], let realm = parameters["realm"] else {
            return nil
        }
        guard [nil, "md5", "sha-256"].contains(parameters["algorithm"]?.lowercased()) else { return nil }
        let qualities = parameters["qop"]?.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
        guard qualities?.contains("auth") ?? true else { return nil }
        self.nonce = nonce
        self.realm = realm
        self.opaque = parameters["opaque"]
        self.algorithm = parameters["algorithm"]
        self.hasQuality = qualities != nil
        self.isStale = parameters["stale"]?.lowercased() == "true"
    }

    /// The better of several has more.
    var strength: Int { algorithm?.lowercased() == "sha-256" ? 1 : 0 }

    /// The Authorization field's value.
    ///
    /// - Parameters:
    ///   - count: how often the nonce was used, this time included; from 1 on.
    ///   - clientNonce: random where none is given.
    func answer(
        user: String, password: String, _ request: HTTPRequest, count: Int, clientNonce: String? = nil
    ) -> String {
        let cnonce = clientNonce ?? String(UInt64.random(in: 0 ... .max), radix: 16)
        let digits = String(count, radix: 16)
        let nc = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        let one = hash("\(user):\(realm):\(password)")
        let two = hash("\(request.method):\(request.target)")
        let response = hash(hasQuality ? "\(one):\(nonce):\(nc):\(cnonce):auth:\(two)" : "\(one):\(nonce):\(two)")
        var parts = [
            "username=\(Self.quoted(user))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(request.target))", "response=\"\(response)\"",
        ]
        if let algorithm { parts.append("algorithm=\(algorithm)") }
        if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if hasQuality { parts += ["qop=auth", "nc=\(nc)", "cnonce=\"\(cnonce)\""] }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func hash(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let digest = strength == 1 ? Array(SHA256.hash(data: bytes)) : Array(Insecure.MD5.hash(data: bytes))
        return Hexadecimal.encode(digest)
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
