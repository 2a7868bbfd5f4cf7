import QuireCore
import QuireProviders
import Synchronization
import Testing

@Suite("Proving who asks")
struct HTTPAuthorizationTests {
    private let origin = HTTPOrigin(isSecure: false, host: "h")

    private func challenged(_ authorizer: PasswordAuthorizer, _ fields: String...) -> Bool {
        let answer = HTTPAnswer(status: 401, fields: HTTPFields(fields.map { (name: "WWW-Authenticate", value: $0) }))
        return authorizer.learns(from: answer, to: HTTPRequest("GET", "/dir/index.html"))
    }

    private func value(_ authorizer: PasswordAuthorizer, secure: Bool = false) -> String? {
        var request = HTTPRequest("GET", "/dir/index.html")
        authorizer.authorize(&request, at: HTTPOrigin(isSecure: secure, host: "h"))
        return request.fields["Authorization"]
    }

    @Test("Nothing is given before the server asks, but over TLS")
    func unasked() {
        let authorizer = PasswordAuthorizer(user: "Aladdin", password: "open sesame")
        #expect(value(authorizer) == nil)
        #expect(value(authorizer, secure: true) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(challenged(authorizer, "Basic realm=\"x, y\", charset=\"UTF-8\""))
        #expect(value(authorizer) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test("Digest is answered as RFC 2617's example has it, and a nonce is counted")
    func digest() throws {
        let authorizer = PasswordAuthorizer(user: "Mufasa", password: "Circle Of Life")
        #expect(
            challenged(
                authorizer,
                "Basic realm=\"x\", Digest realm=\"testrealm@host.com\", nonce=\"dcd98b\", opaque=\"5ccc\"", "Unknown"))
        let first = try #require(value(authorizer))
        // MD5(MD5("Mufasa:testrealm@host.com:Circle Of Life"):dcd98b:MD5("GET:/dir/index.html")), by md5sum.
        #expect(first.contains("response=\"fc2ee7f9b70d9723a73dc7cf2eba6e41\""))
        #expect(first.contains("uri=\"/dir/index.html\"") && first.contains("opaque=\"5ccc\""))
        #expect(!first.contains("Circle"))
        #expect(challenged(authorizer, "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int, auth\", algorithm=SHA-256"))
        #expect(try #require(value(authorizer)).contains("nc=00000001"))
        #expect(try #require(value(authorizer)).contains("nc=00000002"))
        #expect(!challenged(authorizer, "Digest realm=\"r\", nonce=\"n\", qop=\"auth\""), "the password is wrong")
        #expect(challenged(authorizer, "Digest realm=\"r\", nonce=\"m\", stale=TRUE, qop=\"auth\""))
        #expect(!challenged(authorizer, "Negotiate"))
    }

    @Test("A wrong password is tried once, and is in no message")
    func wrongPassword() async throws {
        let count = Lock(0)
        let server = try LoopbackServer(steps: [
            { peer, request in
                count.withLock { $0 += 1 }
                peer.answer("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""], "no")
            }
        ])
        let transport = HTTPTransport(
            origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port),
            authorizer: PasswordAuthorizer(user: "me", password: "hunter2"))
        let answer = try await transport.send(HTTPRequest("GET", "/"))
        let error = transport.error(answer, "the account cannot be used")
        #expect(error.code == .unavailable && count.withLock { $0 } == 2)
        #expect(!error.description.contains("hunter2") && !error.description.contains("aHVudGVyMg"))
    }

    @Test("Each try is signed anew")
    func signedAnew() async throws {
        let seen = Lock<[String]>([])
        let server = try LoopbackServer(steps: [
            { peer, request in
                let line = request.head.split(separator: "\r\n").first { $0.hasPrefix("X-Try") }
                let isFirst = seen.withLock { list in
                    list.append(String(line ?? "none"))
                    return list.count == 1
                }
                peer.answer(isFirst ? "403 Forbidden" : "200 OK")
            }
        ])
        let transport = HTTPTransport(
            origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port), authorizer: Counting())
        #expect(try await transport.send(HTTPRequest("PUT", "/")).status == 200)
        #expect(seen.withLock { $0 } == ["X-Try: 1", "X-Try: 2"])
    }

    private final class Counting: HTTPAuthorizer {
        private let count = Lock(0)

        func authorize(_ request: inout HTTPRequest, at origin: HTTPOrigin) {
            request.fields["X-Try"] = count.withLock { count in
                count += 1
                return "\(count)"
            }
        }

        func learns(from refusal: HTTPAnswer, to request: HTTPRequest) -> Bool { true }
    }
}
