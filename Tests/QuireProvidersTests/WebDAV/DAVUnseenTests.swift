import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// What a server does not show, in accounts of which it shows the rest.
@Suite("Unseen places of WebDAV servers", .timeLimit(.minutes(1)))
struct DAVUnseenTests {
    /// An account with a document `a` and a directory `d`.
    ///
    /// - Parameters:
    ///   - entries: further responses in the root's listing.
    ///   - directory: how each PROPFIND of `d` is answered; nil: the connection is closed.
    ///   - look: how one of the root alone is.
    ///   - failures: so many PROPFINDs of `d` are answered by that; nil: all.
    ///   - list: how the root is listed after the first time.
    private func walk(
        entries: String = "", directory: (status: String, body: String)? = ("207 Multi-Status", collection("d/")),
        look: String = "207 Multi-Status", failures: Int? = nil, list: String = "207 Multi-Status"
    ) throws -> (server: LoopbackServer, walk: DAVWalk) {
        let counts = Lock((failures: failures ?? .max, listings: 0))
        let server = try LoopbackServer { peer in
            while let (head, _) = peer.request() {
                let isDeep = head.lowercased().contains("depth: 1")
                if head.hasPrefix("PROPFIND /dav/d/") {
                    guard let directory else { return }
                    let isOver = counts.withLock { counts in
                        counts.failures -= 1
                        return counts.failures < 0
                    }
                    let answer = isOver ? ("207 Multi-Status", Self.collection("d/")) : directory
                    peer.answer(answer.0, Self.fields, Self.multistatus(answer.1))
                } else if isDeep {
                    let body = Self.collection("") + Self.document("a") + Self.collection("d/") + entries
                    let isFirst = counts.withLock { counts in
                        counts.listings += 1
                        return counts.listings == 1
                    }
                    peer.answer(isFirst ? "207 Multi-Status" : list, Self.fields, Self.multistatus(body))
                } else {
                    peer.answer(look, Self.fields, Self.multistatus(Self.collection("")))
                }
            }
        }
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port))
        var client = DAVClient(transport: transport, address: DAVAddress(origin: transport.origin, base: "/dav"))
        client.clock.pause = { (_) throws(ProviderError) in }
        return (server, DAVWalk(client: client, stamps: false, listsAll: false))
    }

    private static let fields = ["Content-Type: text/xml"]

    private static func multistatus(_ responses: String) -> String {
        "<D:multistatus xmlns:D=\"DAV:\">\(responses)</D:multistatus>"
    }

    private static func told(_ href: String, _ properties: String, _ status: String = "200 OK") -> String {
        """
        <D:response><D:href>/dav/\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop>\
        <D:status>HTTP/1.1 \(status)</D:status></D:propstat></D:response>
        """
    }

    private static func collection(_ href: String) -> String {
        told(href, "<D:resourcetype><D:collection/></D:resourcetype>")
    }

    private static func document(_ href: String, size: String = "1") -> String {
        told(href, "<D:getcontentlength>\(size)</D:getcontentlength><D:getetag>\"x\"</D:getetag>")
    }

    private static func refused(_ href: String, _ status: String) -> String {
        "<D:response><D:href>/dav/\(href)</D:href><D:status>HTTP/1.1 \(status)</D:status></D:response>"
    }

    /// What is told, by path, and what is unseen.
    private func tell(_ walk: DAVWalk) async throws -> (told: [RelativePath], unseen: [RelativePath: String]) {
        var items = try await walk.list()
        var unseen: [RelativePath: String] = [:]
        for item in items { unseen[item.path] = item.unseen }
        _ = UnseenPlaces(takingFrom: &items)
        return (items.map(\.path).sorted { "\($0)" < "\($1)" }, unseen)
    }

    @Test(
        "A directory that this account may not read is unseen, and all else is listed",
        arguments: [
            ("403 Forbidden", ""), ("401 Unauthorized", ""), ("404 Not Found", ""),
            ("207 Multi-Status", refused("d/", "403 Forbidden")), ("207 Multi-Status", told("d/", "", "403 Forbidden")),
            ("207 Multi-Status", refused("d/", "404 Not Found")),
        ])
    func directory(status: String, body: String) async throws {
        let account = try walk(directory: (status, body))
        let (told, unseen) = try await tell(account.walk)
        #expect(told == ["a"])
        #expect(Array(unseen.keys) == ["d"])
        let code = body.isEmpty ? status : body
        #expect(["401", "403"].allSatisfy { !code.contains($0) || unseen["d"]?.contains($0) == true }, "\(unseen)")
    }

    @Test(
        "An entry that cannot be told is unseen, and all else is listed",
        arguments: [
            document("x", size: "-1"), document("x", size: "none"), told("x", "", "403 Forbidden"),
            told("x", "<D:getcontentlength/>", "500 Internal Server Error"), refused("x", "403 Forbidden"),
            refused("x", "500 Internal Server Error"),
        ])
    func entry(response: String) async throws {
        let account = try walk(entries: response)
        let (told, unseen) = try await tell(account.walk)
        #expect(told == ["a", "d"])
        #expect(Array(unseen.keys) == ["x"])
    }

    @Test("Of a document with some properties refused, the others count; one that went is not unseen")
    func partly() async throws {
        let partly = """
            <D:response><D:href>/dav/x</D:href><D:propstat><D:prop><D:getcontentlength>3</D:getcontentlength></D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat><D:propstat><D:prop><D:getetag/></D:prop>\
            <D:status>HTTP/1.1 403 Forbidden</D:status></D:propstat></D:response>
            """
        let account = try walk(entries: partly + Self.refused("y", "404 Not Found"))
        let (told, unseen) = try await tell(account.walk)
        #expect(told == ["a", "d", "x"] && unseen.isEmpty)
    }

    private static let failures = [
        ("500 Internal Server Error", ""), ("207 Multi-Status", refused("d/", "500 Internal Server Error")),
        ("207 Multi-Status", refused("d/", "507 Insufficient Storage")), ("200 OK", ""),
    ]

    @Test(
        "A directory that the server fails on each time is unseen; one that it lists in the end is not",
        arguments: failures)
    func failing(status: String, body: String) async throws {
        let account = try walk(directory: (status, body))
        let (told, unseen) = try await tell(account.walk)
        #expect(
            told == ["a"] && Array(unseen.keys) == ["d"] && unseen["d"]?.hasPrefix("d cannot be") == true, "\(unseen)")
        let recovering = try walk(directory: (status, body), failures: 2)
        let (all, none) = try await tell(recovering.walk)
        #expect(all == ["a", "d"] && none.isEmpty)
    }

    @Test(
        "Where the server is in trouble, nothing is listed",
        arguments: failures.map { ($0.0, $0.1, "500 Internal Server Error") }
            + [("503 Service Unavailable", "", "207 Multi-Status"), ("502 Bad Gateway", "", "207 Multi-Status")])
    func trouble(status: String, body: String, list: String) async throws {
        let account = try walk(directory: (status, body), list: list)
        #expect(await refusal { try await account.walk.list() } != nil)
    }

    @Test("Nor where the connection ends, or the whole account is refused")
    func account() async throws {
        let ended = try walk(directory: nil)
        #expect(await refusal { try await ended.walk.list() } == .unavailable)
        let refused = try walk(directory: ("401 Unauthorized", ""), look: "401 Unauthorized")
        #expect(await refusal { try await refused.walk.list() } == .unavailable)
        let busy = try walk(entries: Self.refused("x", "503 Service Unavailable"))
        #expect(await refusal { try await busy.walk.list() } == .failed)
    }

    @Test(
        "Nor where the root is refused", arguments: [refused("d/", "403 Forbidden"), told("d/", "", "403 Forbidden")])
    func root(body: String) async throws {
        let server = try walk(directory: ("207 Multi-Status", body))
        let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.server.port)
        let client = DAVClient(
            transport: HTTPTransport(origin: origin), address: DAVAddress(origin: origin, base: "/dav/d"))
        let walk = DAVWalk(client: client, stamps: false, listsAll: false)
        #expect(await refusal { try await walk.list() } == .permissionDenied)
    }

    @Test(
        "By a server's journal, what is not shown any more is neither told as removed nor as changed",
        arguments: [
            DAVStandIn.Manners(tags: .upwards, tagsFollowStamps: true),
            DAVStandIn.Manners(tokens: DAVStandIn.Tokens(tellsStamps: true)),
        ])
    func journal(manners: DAVStandIn.Manners) async throws {
        let server = try DAVStandIn(manners)
        server.with { state in
            for directory in ["d", "d/e"] { state.makeCollection(directory) }
            for path in ["a", "d/e/b", "d/c"] { state.write(path, "one") }
        }
        let provider = server.provider()
        _ = try await provider.connect(expected: nil)
        guard case .everything(_, let first) = try await provider.changes(since: nil) else {
            throw ProviderError(.failed, "not everything is listed")
        }
        server.with { state in
            state.manners.unlisted = "d/e"
            state.write("d/e/b", "two")
            state.manners.unshown = "d/c"
            state.write("d/c", "two")
            state.write("a", "two")
        }
        let (changed, removed): ([RemoteItem], [RelativePath]) =
            switch try await provider.changes(since: first) {
            case .changes(let changed, let removed, _): (changed, removed)
            // Below what a report does not show anything may have changed.
            case .everything(let items, _) where manners.tokens != nil: (items, [])
            default: throw ProviderError(.failed, "nothing has changed")
            }
        let unseen = Set(changed.filter { $0.unseen != nil }.map(\.path))
        #expect(unseen == ["d/c", "d/e"])
        #expect(changed.contains { $0.path == "a" && $0.unseen == nil })
        #expect(!removed.contains("d/c") && !removed.contains { $0.isInside("d/e") })
    }
}
