import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Servers that are in trouble at the moment when it is found out what they can do, and listings that do not end.
@Suite("Probes and listings in bad weather")
struct BusyServerTests {
    /// A store that answers each writing request but one as one with all conditions would.
    private func store(failing number: Int, with status: String) throws -> LoopbackServer {
        let count = Lock(0)
        return try LoopbackServer { peer in
            while let request = peer.request() {
                if request.head.hasPrefix("GET") {
                    peer.answer("200 OK", [], "<ListBucketResult></ListBucketResult>")
                    continue
                }
                let isConditional = request.head.contains("If-") || request.head.contains("if-match")
                let index = count.withLock { count in
                    defer { count += 1 }
                    return count
                }
                if index == number {
                    peer.answer(status)
                } else if index == 0 || request.head.hasPrefix("HEAD") || !isConditional || index == 3 {
                    peer.answer("200 OK", ["ETag: \"0123\""])
                } else {
                    peer.answer("412 Precondition Failed")
                }
            }
        }
    }

    @Test("A store that is busy in the middle of the probe is not judged", arguments: [1, 2, 3, 4, 7])
    func busyStore(number: Int) async throws {
        let server = try store(failing: number, with: "503 Service Unavailable")
        await #expect(throws: ProviderError.self) { try await S3Probe.run(server.store) }
    }

    @Test("The same store in good weather has all conditions")
    func goodStore() async throws {
        let server = try store(failing: -1, with: "")
        #expect(try await S3Probe.run(server.store).capabilities.conditionalWrites == .atomic)
    }

    @Test("A server that fails the first lock for a moment is not taken for one without locks")
    func busyLocks() async throws {
        let server = try LoopbackServer(steps: [
            { peer, request in
                let method = request.head.prefix { $0 != " " }
                switch method {
                case "LOCK": peer.answer("503 Service Unavailable")
                case "PROPFIND":
                    let path = request.head.split(separator: " ")[1]
                    peer.answer(
                        "207 Multi-Status", [],
                        """
                        <D:multistatus xmlns:D="DAV:"><D:response><D:href>\(path)</D:href><D:propstat><D:prop>\
                        <D:getetag>"1"</D:getetag><D:getcontentlength>1</D:getcontentlength></D:prop>\
                        <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>
                        """)
                default: peer.answer("201 Created")
                }
            }
        ])
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port))
        let client = DAVClient(
            transport: transport, address: DAVAddress(origin: transport.origin, base: "/account"))
        do {
            let found = try await DAVProbe.run(client)
            Issue.record("\(found)")
        } catch {
            #expect(error.code == .unavailable, "\(error)")
        }
    }

    @Test(
        "A busy server that makes a document of half a body long after it was cut is found out",
        arguments: [(nil, true), (2, false), (12, false), (24, false)] as [(Int?, Bool)])
    func slow(slowness: Int?, isWhole: Bool) async throws {
        let server = try DAVStandIn(.init(slowness: slowness))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.putsWhole == isWhole)
    }

    /// A server that tells what changed, and lists everything at once, behind a proxy.
    private func account(_ trouble: DAVStandIn.Trouble) throws -> (server: DAVStandIn, provider: WebDAVProvider) {
        let server = try DAVStandIn(.init(tokens: DAVStandIn.Tokens(tellsStamps: true), listsAll: true))
        server.with { $0.trouble = trouble }
        return (server, server.provider())
    }

    private static let proxies = [
        "502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout", "429 Too Many Requests",
        "509 Bandwidth Limit Exceeded", "511 Network Authentication Required", "521 Down", "599 Network Timeout",
    ]

    @Test(
        "Where a proxy never passes on what is good for speed only, the account is used without", arguments: proxies,
        [("REPORT", nil), ("PROPFIND", "infinity")] as [(String, String?)])
    func without(status: String, question: (method: String, depth: String?)) async throws {
        let (server, provider) = try account(.init(status: status, method: question.method, depth: question.depth))
        _ = try await provider.connect(expected: nil)
        #expect(server.with { $0.trouble?.times } != .max)
        #expect((provider.abilities.journal == nil) == (question.method == "REPORT"))
        #expect(provider.abilities.listsAll == (question.method == "REPORT"))
    }

    @Test(
        "What is good for speed only is asked for once more",
        arguments: [("REPORT", nil), ("PROPFIND", "infinity")] as [(String, String?)])
    func onceMore(method: String, depth: String?) async throws {
        let (server, provider) = try account(
            .init(status: Self.proxies[0], method: method, depth: depth, times: 1))
        _ = try await provider.connect(expected: nil)
        #expect(server.with { $0.trouble?.times } == 0)
        #expect(provider.abilities.journal != nil && provider.abilities.listsAll)
    }

    @Test(
        "A server that goes away while it is asked for what is good for speed is not taken for one without",
        arguments: [("REPORT", nil), ("PROPFIND", "infinity")] as [(String, String?)])
    func away(method: String, depth: String?) async throws {
        let trouble = DAVStandIn.Trouble(status: Self.proxies[0], method: method, depth: depth, spreads: true)
        let (server, provider) = try account(trouble)
        #expect(await refusal { try await provider.connect(expected: nil) } == .unavailable)
        server.with { $0.trouble = nil }
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.journal != nil && provider.abilities.listsAll)
    }

    @Test(
        "A server that does not answer what safety depends on is not judged", arguments: proxies,
        [
            ("PROPFIND", "/dots"), ("PUT", "/conditions"), ("LOCK", "/lock-1"), ("PUT", "xxxxxxxx"),
            ("DELETE", "xxxxxxxx"), ("HEAD", ""), ("PUT", "/whole"), ("GET", "/whole"),
        ])
    func safety(status: String, question: (method: String, suffix: String)) async throws {
        let (server, provider) = try account(
            .init(status: status, method: question.method, suffix: question.suffix))
        #expect(await refusal { try await provider.connect(expected: nil) } == .unavailable)
        #expect(server.with { $0.trouble?.times } != .max)
    }

    @Test("A server that takes no half body when that is tried is not taken for one that publishes none")
    func halves() async throws {
        let server = try DAVStandIn(.init(halfRefusal: "413 Content Too Large"))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(!provider.abilities.putsWhole)
    }

    private static let mishaps = ["401 Unauthorized", "500 Internal Server Error"] + proxies

    @Test("A server that is in trouble when it gets half a body is not judged", arguments: mishaps)
    func troubledHalves(status: String) async throws {
        let server = try DAVStandIn(.init(halfRefusal: status))
        let provider = server.provider()
        #expect(await refusal { _ = try await provider.connect(expected: nil) } != nil)
        server.with { $0.manners.halfRefusal = nil }
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.putsWhole)
    }

    @Test(
        "A server that is in trouble when it takes the whole bodies beside half a one is not judged",
        arguments: mishaps, ["/whole", "/beside"])
    func troubledWholes(status: String, suffix: String) async throws {
        let (server, provider) = try account(.init(status: status, method: "PUT", suffix: suffix))
        #expect(await refusal { _ = try await provider.connect(expected: nil) } != nil)
        #expect(server.with { $0.trouble?.times } != .max)
    }

    @Test(
        "A document that came with a wrong byte once is not taken for one that half a body changed",
        arguments: [(0, true), (1, true), (1000, false)])
    func flipped(flips: Int, isWhole: Bool) async throws {
        let server = try DAVStandIn(.init(flips: flips))
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.putsWhole == isWhole)
        #expect(server.with { $0.manners.flips } < max(1, flips))
    }

    @Test("A server whose answers to HEAD are mishaps is not taken for one that tells names apart")
    func unfolded() async throws {
        let server = try DAVStandIn(.init(folding: .letterCase))
        server.with { $0.trouble = .init(status: "500 Internal Server Error", method: "HEAD") }
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.abilities.folding.contains(.letterCase))
    }

    @Test("A server that fails once to set properties is not taken for one that keeps none")
    func unstamped() async throws {
        let (server, provider) = try account(
            .init(status: "500 Internal Server Error", method: "PROPPATCH", times: 1))
        _ = try await provider.connect(expected: nil)
        #expect(server.with { $0.trouble?.times } == 0)
        #expect(provider.abilities.stamps)
    }

    @Test("A listing whose pages lead back to where it was is an error")
    func circle() async throws {
        let server = try LoopbackServer(steps: [
            { peer, _ in
                peer.answer(
                    "200 OK", [],
                    "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
                        + "<Contents><Key>a</Key><Size>1</Size></Contents></ListBucketResult>")
            }
        ])
        do {
            _ = try await server.store.listAll([])
            Issue.record("it ended")
        } catch {
            #expect(error.code == .failed && error.message.contains("does not end"), "\(error)")
        }
    }

    @Test("A page or a listing that goes on for ever is an error", arguments: [true, false])
    func endless(isStore: Bool) async throws {
        let filler = String(repeating: "x", count: 1 << 19)
        let server = try LoopbackServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 \(isStore ? 200 : 207) OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let element = "<D:response><D:displayname>\(filler)</D:displayname></D:response>"
            var next = isStore ? "<ListBucketResult xmlns:D=\"DAV:\">" : "<D:multistatus xmlns:D=\"DAV:\">"
            for _ in 0..<200 {
                peer.send("\(String(next.utf8.count, radix: 16))\r\n\(next)\r\n")
                next = element
            }
        }
        do {
            if isStore {
                _ = try await server.store.list([])
            } else {
                let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port))
                let client = DAVClient(transport: transport, address: DAVAddress(origin: transport.origin, base: ""))
                _ = try await client.propfind(.root, depth: "1", limit: 16 << 20)
            }
            Issue.record("it ended")
        } catch {
            #expect(error.code == .failed && error.message.contains("longer than"), "\(error)")
        }
    }

    @Test("What a server was found to lack is tried again when it is found again; what it has is relied on for a while")
    func triedAgain() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners())
        let provider = server.provider()
        let identity = try await provider.connect(expected: nil)
        #expect(provider.capabilities.conditionalWrites == .detected)
        _ = server.takeLog()
        #expect(try await provider.connect(expected: identity) == identity)
        #expect(server.takeLog().contains { $0.hasPrefix("LOCK ") })

        let presence = StorePresence(place: "a store")
        presence.found("one")
        var capabilities = provider.capabilities
        #expect(!presence.isKnown("one", capabilities))
        capabilities.conditionalWrites = .locked
        #expect(presence.isKnown("one", capabilities) && !presence.isKnown("other", capabilities))
    }
}
