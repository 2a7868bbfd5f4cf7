import QuireCore
import Testing

@testable import QuireProviders

@Suite("S3 answers and keys")
struct S3AnswerTests {
    private func page(_ text: String) throws -> S3Page {
        let receiver = S3PageReader()
        let reader = try XMLReader(receiver)
        // In pieces, as it may come.
        for byte in text.utf8 { try reader.read([byte]) }
        try reader.finish()
        return try receiver.finished()
    }

    @Test("A listing of objects and common prefixes")
    func listing() throws {
        let page = try page(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>d%2F</Prefix>
            <EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t/1=</NextContinuationToken>
            <Contents><Key>a+b%2B%0Ac/%F0%9F%93%9D</Key><LastModified>2026-11-22T10:00:01.5Z</LastModified>
            <ETag>&quot;0123-2&quot;</ETag><Size>42</Size></Contents>
            <CommonPrefixes><Prefix>d%2Fe/</Prefix></CommonPrefixes></ListBucketResult>
            """)
        let object = try #require(page.objects.first)
        #expect(object.key == Array("a b+\nc/\u{1F4DD}".utf8))
        #expect(object.entityTag == "0123-2" && object.size == 42)
        #expect(object.modified == HTTPDate.parse("Sun, 22 Nov 2026 10:00:01 GMT"))
        #expect(page.prefixes == [Array("d/e/".utf8)])
        #expect(page.next == "t/1=")
    }

    @Test(
        "Keys of a listing are decoded where it says that they are encoded, wherever it does",
        arguments: [("", "a+b %41"), ("<EncodingType>url</EncodingType>", "a b A")])
    func encoding(said: String, key: String) throws {
        let text =
            "<ListBucketResult><Contents><Key>d/a+b %41</Key><Size>1</Size></Contents>"
            + "<CommonPrefixes><Prefix>a+b %41/</Prefix></CommonPrefixes>\(said)</ListBucketResult>"
        let page = try page(text)
        #expect(page.objects.map(\.key) == [Array("d/\(key)".utf8)])
        #expect(page.prefixes == [Array("\(key)/".utf8)])
        let receiver = S3VersionPageReader()
        let reader = try XMLReader(receiver)
        let version = "<Version><Key>a+b %41</Key><VersionId>1</VersionId><Size>1</Size></Version>"
        let versions =
            "<ListVersionsResult>\(version)<IsTruncated>true</IsTruncated><NextKeyMarker>a+b %41</NextKeyMarker>"
            + "\(said)</ListVersionsResult>"
        try reader.read(Array(versions.utf8))
        try reader.finish()
        let found = try receiver.finished()
        #expect(found.entries.map(\.object.key) == [Array(key.utf8)])
        #expect(found.next?.key == Array(key.utf8))
    }

    @Test(
        "Where the next page of versions begins is known also from a store that encodes keys but not that",
        arguments: [
            (last: "a%2Bb", next: "a+b", key: "a+b"), ("a%2Bb", "a%2Bb", "a+b"), ("a+b", "a+b", "a b"),
            ("a%2541", "a%41", "a%41"), ("a%2Bb", "c+d", "c d"),
        ], ["Version", "DeleteMarker"])
    func versionMarker(marker: (last: String, next: String, key: String), element: String) throws {
        let receiver = S3VersionPageReader()
        let reader = try XMLReader(receiver)
        let text =
            "<ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
            + "<NextKeyMarker>\(marker.next)</NextKeyMarker>"
            + "<Version><Key>a</Key><VersionId>1</VersionId><Size>1</Size></Version>"
            + "<\(element)><Key>\(marker.last)</Key><VersionId>1</VersionId><Size>1</Size></\(element)>"
            + "</ListVersionsResult>"
        try reader.read(Array(text.utf8))
        try reader.finish()
        #expect(try receiver.finished().next?.key == Array(marker.key.utf8))
    }

    @Test(
        "What is no whole listing is not taken for one",
        arguments: [
            "<Error><Code>AccessDenied</Code></Error>", "<html>hello</html>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key><Size>many</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key>",
        ])
    func garbage(text: String) {
        #expect(throws: ProviderError.self) { try page(text) }
    }

    @Test("Keys and paths, below a prefix")
    func keys() throws {
        let endpoint = HTTPOrigin(isSecure: true, host: "store.example")
        let address = S3Address(endpoint: endpoint, bucket: "b", prefix: "my drive")
        #expect(address.target(address.key("a b/c+d")) == "/b/my%20drive/a%20b/c%2Bd")
        #expect(address.path(ofKey: Array("my drive/a/b".utf8))?.path == "a/b")
        let marker = try #require(address.path(ofKey: Array("my drive/a/".utf8)))
        #expect(marker.path == "a" && marker.isMarker)
        for key in ["other/a", "my drive/", "my drive/a//b", "my drive/./a", "my drive/../a", "my drive//"] {
            #expect(address.path(ofKey: Array(key.utf8)) == nil, "\(key)")
        }
        let virtual = S3Address(endpoint: endpoint, bucket: "b", prefix: "", isVirtualHost: true)
        #expect(virtual.origin.host == "b.store.example" && virtual.target(virtual.key("a")) == "/a")
    }

    @Test("A refusal's code tells more than its status")
    func errors() {
        func code(_ name: String) -> ProviderError.Code? {
            let body = "<Error><Code>\(name)</Code><Message>no</Message></Error>"
            return S3Errors.error(HTTPAnswer(status: 400, body: Array(body.utf8)), "a cannot be written")?.code
        }
        #expect(code("NoSuchBucket") == .unavailable && code("BadDigest") == .corrupt)
        #expect(code("ConditionalRequestConflict") == .conditionFailed && code("KeyTooLongError") == .invalidName)
        #expect(code("SignatureDoesNotMatch") == .unavailable && code("QuotaExceeded") == .noSpace)
        #expect(code("InternalError") == nil)
    }

    @Test("A wrong region is told with the one that the store names; where it names none, the header's keys are wrong")
    func region() {
        func error(_ region: String) -> ProviderError? {
            let words = "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-west-3'"
            let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Message>\(words)</Message>\(region)</Error>"
            return S3Errors.error(HTTPAnswer(status: 400, body: Array(body.utf8)), "the store cannot be used")
        }
        let wrong = error("<Region>eu-west-3</Region>")
        #expect(
            wrong?.message == "the store cannot be used: the store is in the region eu-west-3; write ?region=eu-west-3 "
                + "into its URL")
        #expect(wrong?.code == .unavailable && wrong?.isSecretRefused == false)
        #expect(wrong?.cause?.contains("expecting 'eu-west-3'") == true)
        #expect(error("")?.isSecretRefused == true)
    }

    @Test(
        "Keys that are refused are Quire's to renew, except where others keep them",
        arguments: [
            ("403 Forbidden", "<Error><Code>InvalidAccessKeyId</Code></Error>"), ("401 Unauthorized", ""),
        ])
    func refusedKeys(status: String, body: String) async throws {
        let server = try LoopbackServer(steps: [{ peer, _ in peer.answer(status, [], body) }])
        let address = S3Address(
            endpoint: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port), bucket: "b", prefix: "")
        let own = S3Signer(S3Credentials(accessKey: "k", secretKey: "s"), region: "us-east-1")
        let others = S3RenewedSigner(region: "us-east-1", remedy: "write them into a file") {
            S3Credentials(accessKey: "k", secretKey: "s")
        }
        func refusal(_ signer: any HTTPAuthorizer) async -> ProviderError? {
            await #expect(throws: ProviderError.self) {
                _ = try await S3Client(address, signer: signer).get([0x61], limit: 10)
            }
        }
        #expect(await refusal(own)?.isSecretRefused == true)
        let error = await refusal(others)
        #expect(error?.isSecretRefused == false && error?.message.hasSuffix("; write them into a file") == true)
    }
}
