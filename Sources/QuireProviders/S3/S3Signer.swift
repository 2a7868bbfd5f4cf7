import Crypto
package import QuireCore
import Synchronization

/// Signs requests as S3 wants it (AWS Signature Version 4, in the Authorization field).
///
/// Signed are the method, the target, the host and all `x-amz-` fields. The body's SHA-256 is one of these where it is
/// known; a file without it is `UNSIGNED-PAYLOAD`. A store whose clock is another tells so by refusing: from then on
/// requests are dated by its clock.
package final class S3Signer: HTTPAuthorizer {
    private struct State {
        /// Seconds that the store's clock is ahead of this device's.
        var skew = 0
        var credentials: S3Credentials
        /// Of the credentials.
        var key: (day: String, value: SymmetricKey)?
    }

    private let region: String
    private let now: @Sendable () -> FileTime
    /// Innermost lock.
    private let state: Lock<State>

    /// What a signature may be too old or too new by, in seconds: stores allow 900.
    private static let tolerance = 240

    /// - Parameter now: this device's clock.
    package init(
        _ credentials: S3Credentials, region: String, now: @escaping @Sendable () -> FileTime = { SystemCalls.now() }
    ) {
        state = Lock(State(credentials: credentials))
        self.region = region
        self.now = now
    }

    /// What requests are signed with now.
    package var credentials: S3Credentials { state.withLock { $0.credentials } }

    /// Has later requests signed with others.
    package func renew(_ credentials: S3Credentials) {
        state.withLock { state in
            state.credentials = credentials
            state.key = nil
        }
    }

    package func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) {
        let (skew, credentials) = state.withLock { ($0.skew, $0.credentials) }
        let time = HTTPDate.formatBasic(FileTime(seconds: now().seconds + skew, nanoseconds: 0))
        request.fields["x-amz-date"] = time
        request.fields["x-amz-security-token"] = credentials.sessionToken
        if request.fields["x-amz-content-sha256"] == nil {
            request.fields["x-amz-content-sha256"] = Self.payload(request.body)
        }
        let fields = signedFields(request, origin)
        let names = fields.map(\.name).joined(separator: ";")
        var canonical = ""
        canonical.reserveCapacity(1024)
        canonical += "\(request.method)\n\(request.path)\n\(request.query ?? "")\n"
        for field in fields { canonical += "\(field.name):\(field.value)\n" }
        canonical += "\n\(names)\n\(request.fields["x-amz-content-sha256"] ?? "")"
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.digest(Array(canonical.utf8)))"
        let signature = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key(day, credentials))
        request.fields["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(signature.withUnsafeBytes { Hexadecimal.encode($0) })"
    }

    package func learns(from refusal: HTTPAnswer, to request: HTTPRequest) -> Bool {
        guard [401, 403].contains(refusal.status), let date = refusal.date else { return false }
        let skew = date.seconds - now().seconds
        return state.withLock { state in
            guard abs(skew - state.skew) > Self.tolerance else { return false }
            state.skew = skew
            return true
        }
    }

    /// In the order of their names, as they are signed.
    private func signedFields(_ request: HTTPRequest, _ origin: HTTPOrigin) -> [(name: String, value: String)] {
        var fields = [(name: "host", value: origin.authority)]
        for field in request.fields.list where HTTPFields.isName(field.name, beginningWith: "x-amz-") {
            fields.append((field.name.lowercased(), Self.trimmed(field.value)))
        }
        return fields.sorted { $0.name < $1.name }
    }

    /// Without spaces around it, and with one where several are.
    private static func trimmed(_ value: String) -> String {
        value.utf8.contains(0x20) ? value.split(separator: " ").joined(separator: " ") : value
    }

    private func key(_ day: String, _ credentials: S3Credentials) -> SymmetricKey {
        let known = state.withLock { $0.credentials == credentials ? $0.key : nil }
        if let known, known.day == day { return known.value }
        var key = SymmetricKey(data: Array("AWS4\(credentials.secretKey)".utf8))
        for part in [day, region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        let made = key
        state.withLock { if $0.credentials == credentials { $0.key = (day, made) } }
        return key
    }

    private static func payload(_ body: HTTPRequest.Body) -> String {
        switch body {
        case .none: ofNothing
        case .bytes(let bytes): digest(bytes)
        default: "UNSIGNED-PAYLOAD"
        }
    }

    /// Of most requests' bodies.
    private static let ofNothing = digest([])

    private static func digest(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).withUnsafeBytes { Hexadecimal.encode($0) }
    }
}
