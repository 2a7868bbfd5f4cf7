import Glibc
import QuireCore
import Testing

@testable import QuireProviders

/// A bucket of its own at one of the object stores that `Tests/Servers/run` has started.
struct S3TestStore: Sendable {
    private let origin: HTTPOrigin
    private let bucket: String

    /// - Parameter name: of the server, which is running.
    init(_ name: String) async throws {
        let url = try #require(TestServer.started[name]?.url, "\(name) is not running")
        origin = try #require(HTTPOrigin.parse(url)).origin
        bucket = "bench-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let transport = HTTPTransport(origin: origin, authorizer: S3Signer(Self.credentials, region: "us-east-1"))
        let made = try await transport.send(HTTPRequest("PUT", "/\(bucket)"))
        try #require(made.isSuccess)
    }

    private static let credentials = S3Credentials(accessKey: "quire", secretKey: "quire-secret-key")

    /// As a person writes it.
    var url: String { "s3+http://quire@\(origin.authority)/\(bucket)/my%20drive" }

    /// Has the bucket keep what is replaced in it.
    func keepVersions() async throws {
        let wish =
            "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status>"
            + "</VersioningConfiguration>"
        let done = try await client().transport.send(
            HTTPRequest("PUT", "/\(bucket)", query: "versioning=", body: .bytes(Array(wish.utf8))))
        try #require(done.isSuccess)
    }

    /// Removes the bucket with all that is in it.
    func remove() async throws {
        for object in try await client().listAll([]) { _ = try await client().delete(object.key) }
        let removed = try await client().transport.send(HTTPRequest("DELETE", "/\(bucket)"))
        try #require(removed.isSuccess)
    }

    /// - Parameter watch: told of each request before it is sent; what it throws keeps it from being sent.
    func client(watch: (@Sendable (HTTPRequest) async throws(ProviderError) -> Void)? = nil) -> S3Client {
        let signer = S3Signer(Self.credentials, region: "us-east-1")
        return S3Client(
            S3Address(endpoint: origin, bucket: bucket, prefix: "my drive"),
            signer: watch.map { WatchedSigner(signer: signer, watch: $0) } ?? signer)
    }

    /// - Parameter mostInOne: in bytes; what is larger is uploaded in parts to its own key.
    func provider(
        mostInOne: Int64 = S3Upload.mostInOne,
        watch: (@Sendable (HTTPRequest) async throws(ProviderError) -> Void)? = nil
    ) -> S3Provider {
        S3Provider(client: client(watch: watch), mostInOne: mostInOne)
    }
}

/// Lets a test see every request, and end one before it is sent.
private struct WatchedSigner: HTTPAuthorizer {
    let signer: S3Signer
    let watch: @Sendable (HTTPRequest) async throws(ProviderError) -> Void

    func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) async throws(ProviderError) {
        try await watch(request)
        signer.authorize(&request, at: origin)
    }

    func learns(from refusal: HTTPAnswer, to request: HTTPRequest) -> Bool { signer.learns(from: refusal, to: request) }
}
