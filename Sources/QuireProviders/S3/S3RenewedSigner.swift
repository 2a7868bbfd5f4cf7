import QuireCore
import Synchronization

/// Signs with credentials that somebody else keeps, and may renew at any time: of the environment, or of a file.
///
/// They are read before the first request, before each while there are none, and after a refusal. Where there are others
/// by then, that request is sent again with these.
final class S3RenewedSigner: HTTPAuthorizer {
    private let region: String
    private let source: @Sendable () -> S3Credentials?
    /// What to do where there are none, or they are refused, for people.
    let remedy: String
    private let pool = BlockingPool(label: "quire-s3-keys", width: 1, isQuick: true)
    /// Innermost lock.
    private let made = Lock<S3Signer?>(nil)

    /// - Parameters:
    ///   - remedy: what to do where there are none, or they are refused, for people.
    ///   - source: reads them; nil where there are none. May block.
    init(region: String, remedy: String, source: @escaping @Sendable () -> S3Credentials?) {
        self.region = region
        self.remedy = remedy
        self.source = source
    }

    /// - Throws: `.unavailable` while there are no credentials.
    func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) async throws(ProviderError) {
        try await signer().authorize(&request, at: origin)
    }

    func learns(from refusal: HTTPAnswer, to request: HTTPRequest) async -> Bool {
        guard let signer = made.withLock({ $0 }) else { return false }
        let used = signer.credentials
        // What others have read since this request was signed is new to it, too.
        if !used.haveSigned(request) { return true }
        // Cancelled, the request ends by itself.
        guard let found = try? await read(), found != used else { return signer.learns(from: refusal, to: request) }
        signer.renew(found)
        return true
    }

    /// Two that ask at once get the same one.
    private func signer() async throws(ProviderError) -> S3Signer {
        if let made = made.withLock({ $0 }) { return made }
        guard let found = try await read() else {
            throw ProviderError(.unavailable, "there is no access key and secret for the store: \(remedy)")
        }
        return made.withLock { made in
            let signer = made ?? S3Signer(found, region: region)
            made = signer
            return signer
        }
    }

    private func read() async throws(ProviderError) -> S3Credentials? {
        let source = source
        return try await pool.run { (_) throws(ProviderError) in source() }
    }
}

extension S3Credentials {
    /// Whether a request was signed with these, as far as it shows.
    fileprivate func haveSigned(_ request: HTTPRequest) -> Bool {
        request.fields["x-amz-security-token"] == sessionToken
            && request.fields["Authorization"]?.contains("Credential=\(accessKey)/") ?? false
    }
}
