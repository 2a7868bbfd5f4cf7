import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

@Suite("S3 credentials that somebody renews")
struct S3RenewedSignerTests {
    /// What a helper has written last.
    private final class Kept: Sendable {
        private let state = Lock((credentials: S3Credentials?.none, readings: 0))

        var token: String? {
            get { state.withLock { $0.credentials?.sessionToken } }
            set {
                let made = newValue.map { S3Credentials(accessKey: "k", secretKey: "s\($0)", sessionToken: $0) }
                state.withLock { $0.credentials = made }
            }
        }

        var readings: Int { state.withLock { $0.readings } }

        func read() -> S3Credentials? {
            state.withLock { state in
                state.readings += 1
                return state.credentials
            }
        }
    }

    /// A store that takes requests with one token.
    private final class Store: Sendable {
        private final class Book: Sendable {
            let state: Lock<(token: String, requests: Int)>

            init(_ token: String) { state = Lock((token, 0)) }
        }

        private let book: Book
        private let server: LoopbackServer

        init(taking token: String, refusing status: String) throws {
            let book = Book(token)
            self.book = book
            let words = "<Error><Code>ExpiredToken</Code><Message>The token has expired</Message></Error>"
            server = try LoopbackServer(steps: [
                { peer, request in
                    let taken = book.state.withLock { state in
                        state.requests += 1
                        return state.token
                    }
                    let given = request.head.split(separator: "\r\n").first {
                        $0.lowercased().hasPrefix("x-amz-security-token: ")
                    }
                    let isTaken = given?.hasSuffix(": \(taken)") ?? false
                    if isTaken { peer.answer("200 OK", [], "it") } else { peer.answer(status, [], words) }
                }
            ])
        }

        var port: Int { server.port }
        var requests: Int { book.state.withLock { $0.requests } }
        func take(_ token: String) { book.state.withLock { $0.token = token } }

        func client(_ kept: Kept) -> S3Client {
            let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port)
            return S3Client(
                S3Address(endpoint: origin, bucket: "b", prefix: ""),
                signer: S3RenewedSigner(region: "us-east-1", remedy: "renew them") { kept.read() })
        }
    }

    @Test("New ones are taken when the old ones are refused", arguments: ["400 Bad Request", "403 Forbidden"])
    func renewed(status: String) async throws {
        let kept = Kept()
        kept.token = "A"
        let store = try Store(taking: "A", refusing: status)
        let client = store.client(kept)
        func get() async throws -> [UInt8]? { try await client.get([0x61], limit: 10) }
        #expect(try await get() == Array("it".utf8))
        #expect(try await get() == Array("it".utf8))
        #expect(kept.readings == 1, "what is taken is not asked for again")
        store.take("B")
        #expect(await refusal { try await get() } == .unavailable)
        #expect(store.requests == 3, "the same ones are not tried again")
        kept.token = "B"
        #expect(try await get() == Array("it".utf8))
        #expect(try await get() == Array("it".utf8))
        #expect(store.requests == 6)
    }

    @Test("Requests that were under way when others had new ones are sent again with these")
    func together() async throws {
        let kept = Kept()
        kept.token = "A"
        let store = try Store(taking: "A", refusing: "400 Bad Request")
        let client = store.client(kept)
        _ = try await client.get([0x61], limit: 10)
        store.take("B")
        kept.token = "B"
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let found = try await client.get([0x61], limit: 10)
                    #expect(found == Array("it".utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("While there are none nothing is sent, and those that come are taken")
    func late() async throws {
        let kept = Kept()
        let store = try Store(taking: "A", refusing: "403 Forbidden")
        let client = store.client(kept)
        for _ in 0..<2 { #expect(await refusal { try await client.get([0x61], limit: 10) } == .unavailable) }
        #expect(store.requests == 0)
        kept.token = "A"
        #expect(try await client.get([0x61], limit: 10) == Array("it".utf8))
    }

    @Test("An account whose profile is nowhere yet sends nothing, and says what is missing")
    func noProfile() async throws {
        let store = try Store(taking: "A", refusing: "403 Forbidden")
        let url = try ProviderURL("s3+http://127.0.0.1:\(store.port)/bucket?profile=quire-tests-nowhere")
        let provider = url.makeProvider(secret: .known(nil))
        let error = await #expect(throws: ProviderError.self) { try await provider.connect(expected: nil) }
        #expect(error?.code == .unavailable && error?.description.contains("quire-tests-nowhere") ?? false)
        #expect(store.requests == 0)
    }
}
