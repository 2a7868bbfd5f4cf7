import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Listings that servers cut, refuse or do not finish.
@Suite("Listings of WebDAV servers")
struct DAVListingTests {
    /// A server that answers a PROPFIND of each depth with responses, and one of depth 1 of the root as `root` says; one without
    /// any it does not answer at all.
    private func walk(
        listsAll: Bool = false, idle: Duration = .seconds(30),
        noted: @escaping @Sendable (ProviderError?) -> Void = { _ in },
        _ answers: [String: (status: String, responses: String)]
    ) throws -> (server: LoopbackServer, walk: DAVWalk) {
        let server = try LoopbackServer(steps: [
            { peer, request in
                let head = request.head.lowercased()
                let depth = ["infinity", "1"].first { head.contains("depth: \($0)") } ?? "0"
                let root = depth == "1" && head.hasPrefix("propfind /dav/ ") ? answers["root"] : nil
                guard let (status, responses) = root ?? answers[depth] else { return peer.waitForEnd() }
                let body = responses.isEmpty ? "" : "<D:multistatus xmlns:D=\"DAV:\">\(responses)</D:multistatus>"
                peer.answer(status, ["Content-Type: text/xml"], body)
            }
        ])
        var limits = HTTPTransport.Limits()
        limits.idle = idle
        let transport = HTTPTransport(
            origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port), limits: limits)
        var client = DAVClient(transport: transport, address: DAVAddress(origin: transport.origin, base: "/dav"))
        client.clock.pause = { (_) throws(ProviderError) in }
        return (server, DAVWalk(client: client, stamps: false, listsAll: listsAll, noted: noted))
    }

    private static func granted(_ href: String, _ properties: String) -> String {
        """
        <D:response><D:href>/dav/\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop>\
        <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
        """
    }

    private static func collection(_ href: String) -> String {
        granted(href, "<D:resourcetype><D:collection/></D:resourcetype>")
    }

    private static func document(_ href: String) -> String {
        granted(href, "<D:getcontentlength>1</D:getcontentlength><D:getetag>\"x\"</D:getetag>")
    }

    private static func refused(_ href: String, _ status: String, _ rest: String = "") -> String {
        "<D:response><D:href>/dav/\(href)</D:href><D:status>HTTP/1.1 \(status)</D:status>\(rest)</D:response>"
    }

    /// As Stalwart ends a listing that is too long for it.
    private static let cut = refused(
        "d/", "507 Insufficient Storage",
        "<D:error><D:number-of-matches-within-limits/></D:error><D:responsedescription>too many</D:responsedescription>"
    )

    private static let parts: [(responses: String, code: ProviderError.Code, words: [String])] = [
        (collection("d/") + document("d/a") + cut, .failed, ["no more than 1 ", "raise", "too many"]),
        (cut + document("d/a") + document("d/b"), .failed, ["no more than 2 ", "raise"]),
        (collection("d/") + document("d/a") + refused("d/", "500 Oh"), .failed, ["500"]),
        (document("d/a"), .failed, ["not of this directory"]),
    ]

    @Test("A listing that is cut or refused is no shorter listing", arguments: parts.indices)
    func part(index: Int) async throws {
        let (responses, code, words) = Self.parts[index]
        let account = try walk(["1": ("207 Multi-Status", responses)])
        do {
            let items = try await account.walk.list(in: ["d"])
            Issue.record("\(items)")
        } catch {
            #expect(error.code == code && words.allSatisfy("\(error)".contains), "\(error)")
        }
    }

    @Test(
        "A directory that is gone, or is a document now, has nothing in it",
        arguments: [refused("d/", "404 Not Found"), document("d")])
    func gone(responses: String) async throws {
        let account = try walk([
            "1": ("207 Multi-Status", responses), "root": ("207 Multi-Status", Self.collection("")),
        ])
        #expect(try await account.walk.list(in: ["d"]).isEmpty)
    }

    private static let shallow = ("207 Multi-Status", collection("") + document("a"))

    @Test(
        "A listing of everything that a server does not finish, cuts or refuses is replaced by one of each directory",
        arguments: [
            ("504 Gateway Timeout", ""), ("502 Bad Gateway", ""), ("507 Insufficient Storage", ""),
            ("403 Forbidden", ""), ("207 Multi-Status", collection("") + refused("", "507 Insufficient Storage")),
            ("207 Multi-Status", collection("") + collection("d/") + refused("d/", "507 Insufficient Storage")),
            ("207 Multi-Status", refused("", "403 Forbidden")),
        ])
    func deep(status: String, responses: String) async throws {
        let failures = Lock(0)
        let account = try walk(
            listsAll: true, noted: { if $0 != nil { failures.withLock { $0 += 1 } } },
            ["infinity": (status, responses), "1": Self.shallow])
        #expect(try await account.walk.list().map(\.path) == ["a"])
        #expect(failures.withLock { $0 } == 1)
    }

    @Test(
        "A listing of everything so long that servers cut it without a word is replaced by one of each directory",
        arguments: [(62, 0, false), (63, 0, true), (1, 997, false), (1, 998, true)])
    func cutSilently(directories: Int, documents: Int, isReplaced: Bool) async throws {
        let failures = Lock(0)
        let responses =
            Self.collection("") + (0..<directories).map { Self.collection("d\($0)/") }.joined()
            + (0..<documents).map { Self.document("d0/\($0)") }.joined()
        let account = try walk(
            listsAll: true, noted: { if $0 != nil { failures.withLock { $0 += 1 } } },
            ["infinity": ("207 Multi-Status", responses), "1": Self.shallow])
        #expect(try await account.walk.list().count == (isReplaced ? 1 : directories + documents))
        #expect(failures.withLock { $0 } == (isReplaced ? 1 : 0))
    }

    @Test("A listing of everything on which a server goes silent is replaced by one of each directory")
    func silent() async throws {
        let account = try walk(listsAll: true, idle: .seconds(1), ["1": Self.shallow])
        #expect(try await account.walk.list().map(\.path) == ["a"])
    }

    @Test("Listings of everything end where one is refused, or two in a row do not come")
    func ends() {
        let (away, refused) = (ProviderError(.unavailable, "away"), ProviderError(.failed, "no"))
        var listings = DAVDeepListings()
        var ends = [away, nil, away, away].map { listings.isOver(after: $0) }
        #expect(ends == [false, false, false, true])
        listings = DAVDeepListings()
        ends = [listings.isOver(after: refused)]
        #expect(ends == [true])
    }

    @Test("A server that is not there is not taken for one that cannot list everything")
    func away() async throws {
        let failures = Lock(0)
        let account = try walk(
            listsAll: true, noted: { if $0 != nil { failures.withLock { $0 += 1 } } },
            ["infinity": ("502 Bad Gateway", ""), "1": ("502 Bad Gateway", "")])
        #expect(await refusal { try await account.walk.list() } == .unavailable)
        #expect(failures.withLock { $0 } == 0)
    }
}
