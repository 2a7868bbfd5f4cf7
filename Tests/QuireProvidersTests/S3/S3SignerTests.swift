import QuireCore
import QuireProviders
import Testing

@Suite("S3 signatures")
struct S3SignerTests {
    /// The examples of "Signature Calculations for the Authorization Header" in Amazon's S3 API reference.
    private static let credentials = S3Credentials(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private static let origin = HTTPOrigin(isSecure: true, host: "examplebucket.s3.amazonaws.com")
    /// 2013-05-24 00:00:00.
    private static let time = FileTime(seconds: 1_369_353_600, nanoseconds: 0)

    private func signature(_ request: HTTPRequest) throws -> String {
        var request = request
        S3Signer(Self.credentials, region: "us-east-1", now: { Self.time }).authorize(&request, at: Self.origin)
        let value = try #require(request.fields["Authorization"])
        #expect(
            value.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "))
        #expect(request.fields["x-amz-date"] == "20130524T000000Z")
        return String(value.suffix(64))
    }

    @Test("Amazon's own examples")
    func examples() throws {
        #expect(
            try signature(HTTPRequest("GET", "/", query: "lifecycle="))
                == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
        #expect(
            try signature(HTTPRequest("GET", "/", query: "max-keys=2&prefix=J"))
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test("A store whose clock is another is believed, once")
    func skew() throws {
        let signer = S3Signer(Self.credentials, region: "us-east-1", now: { Self.time })
        let request = HTTPRequest("GET", "/")
        let ahead = HTTPAnswer(status: 403, fields: ["Date": "Fri, 24 May 2013 01:00:00 GMT"])
        #expect(signer.learns(from: ahead, to: request))
        var signed = request
        signer.authorize(&signed, at: Self.origin)
        #expect(signed.fields["x-amz-date"] == "20130524T010000Z")
        #expect(!signer.learns(from: ahead, to: request), "the same clock is nothing new")
        #expect(!signer.learns(from: HTTPAnswer(status: 403), to: request))
        let near = HTTPAnswer(status: 403, fields: ["Date": "Fri, 24 May 2013 01:02:00 GMT"])
        #expect(!signer.learns(from: near, to: request), "what is refused for another reason is not tried again")
    }

    @Test("A session's token and a known checksum are signed with the rest")
    func fields() throws {
        let temporary = S3Credentials(accessKey: "a", secretKey: "b", sessionToken: "c")
        var request = HTTPRequest("PUT", "/k", fields: ["x-amz-content-sha256": "known", "X-Amz-Meta-A": "b  c"])
        S3Signer(temporary, region: "eu", now: { Self.time }).authorize(&request, at: Self.origin)
        #expect(request.fields["x-amz-content-sha256"] == "known")
        let names = "host;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-security-token"
        #expect(request.fields["Authorization"]?.contains("SignedHeaders=\(names), ") ?? false)
    }
}

@Suite("S3 credentials")
struct S3CredentialsTests {
    @Test("Those of one profile among others")
    func profiles() {
        let text = """
            # mine
            [default]
            aws_access_key_id = A
            aws_secret_access_key=B=

            [ work ]
            AWS_ACCESS_KEY_ID=C
            aws_secret_access_key = D
            aws_session_token = E
            [half]
            aws_access_key_id = F
            """
        #expect(S3Credentials.parse(text, profile: "default") == S3Credentials(accessKey: "A", secretKey: "B="))
        #expect(
            S3Credentials.parse(text, profile: "work")
                == S3Credentials(accessKey: "C", secretKey: "D", sessionToken: "E"))
        #expect(S3Credentials.parse(text, profile: "half") == nil)
        #expect(S3Credentials.parse(text, profile: "other") == nil)
    }
}
