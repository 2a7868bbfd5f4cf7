import Glibc
import QuireCore
import QuireTestSupport
import Testing

@testable import QuireProviders

/// Servers that tell by themselves what changed in them.
@Suite("Journals of WebDAV servers", .timeLimit(.minutes(2)))
struct DAVJournalTests {
    private typealias Manners = DAVStandIn.Manners
    private typealias Tokens = DAVStandIn.Tokens

    private static let tokens = Manners(tokens: Tokens(tellsStamps: true))
    private static let tags = Manners(tags: .upwards, tagsFollowStamps: true)

    /// Where a drive stands.
    private final class Drive {
        let provider: WebDAVProvider
        var cursor: ChangeCursor?
        /// What it has been told of, as a drive does it.
        var items: [RelativePath: RemoteItem] = [:]

        init(_ provider: WebDAVProvider) { self.provider = provider }

        /// One poll.
        @discardableResult
        func poll() async throws -> RemoteChanges {
            let changes = try await provider.changes(since: cursor)
            switch changes {
            case .none(let next): cursor = next
            case .everything(let all, let next):
                items = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
                cursor = next
            case .changes(let changed, let removed, let next):
                let replaced = changed.filter { $0.kind != .directory && items[$0.path]?.kind == .directory }
                for path in removed + replaced.map(\.path) { items = items.filter { !$0.key.isInside(path) } }
                for item in changed { items[item.path] = item }
                cursor = next
            }
            return changes
        }
    }

    private func drive(_ server: DAVStandIn, pace: ListingPace? = ListingPace(interval: .seconds(3600))) async throws
        -> Drive
    {
        let drive = Drive(server.provider(pace: pace))
        _ = try await drive.provider.connect(expected: nil)
        return drive
    }

    /// A server with some documents, and a drive that has seen them.
    private func stocked(_ manners: DAVStandIn.Manners) async throws -> (server: DAVStandIn, drive: Drive) {
        let server = try DAVStandIn(manners)
        server.with { state in
            for directory in ["a", "a/b", "a/b/c", "z"] { state.makeCollection(directory) }
            for path in ["a/1", "a/b/2", "a/b/c/3", "z/4", "é &%"] { state.write(path, "one") }
        }
        let drive = try await drive(server)
        try await drive.poll()
        _ = server.takeLog()
        return (server, drive)
    }

    // MARK: - the probe

    private static let found: [(Manners, DAVAbilities.Journal?)] = [
        (Manners(), nil),
        (tokens, .tokens(tellsAttributes: true)),
        (Manners(tokens: Tokens()), .tokens(tellsAttributes: false)),
        (Manners(tokens: Tokens(), keepsStamps: false), .tokens(tellsAttributes: true)),
        (Manners(tokens: Tokens(tellsStamps: true, tellsParents: true, page: 2)), .tokens(tellsAttributes: true)),
        (Manners(tokens: Tokens(refusal: "412 Precondition Failed")), .tokens(tellsAttributes: false)),
        (Manners(tokens: Tokens(isDeep: false)), nil),
        (Manners(tokens: Tokens(isShallow: true)), nil),
        (Manners(tokens: Tokens(tellsMembers: false)), .tokens(tellsAttributes: false)),
        (Manners(tokens: Tokens(tellsCollections: false)), nil),
        (Manners(tokens: Tokens(takesAnyToken: true)), nil),
        (Manners(tokens: Tokens(namesReason: false)), nil),
        (tags, .tags(tellsAttributes: true)),
        (Manners(tags: .upwards), .tags(tellsAttributes: false)),
        (Manners(tags: .upwards, keepsStamps: false), .tags(tellsAttributes: true)),
        (Manners(tokens: Tokens(isShallow: true), tags: .upwards), .tags(tellsAttributes: false)),
        (Manners(tags: .parent), nil),
        (Manners(tags: .namesUpwards), nil),
        (Manners(tags: .upwardsBySeconds), nil),
    ]

    @Test("A journal is used where it tells of every kind of change, at any depth", arguments: found.indices)
    func probe(index: Int) async throws {
        let (manners, journal) = Self.found[index]
        let server = try DAVStandIn(manners)
        let drive = try await drive(server)
        #expect(drive.provider.abilities.journal == journal)
        #expect(drive.provider.capabilities.tellsChanges == (journal != nil))
        #expect(server.with { $0.nodes[".quire/tmp"]?.names } == [])
    }

    @Test(
        "Tokens that tell of one directory only are not used",
        .enabled(if: TestServer.started["xandikos"] != nil, "xandikos is not running"))
    func tokensOfOneDirectory() async throws {
        let account = try await TestServer.account("xandikos")
        let client = DAVClient(
            transport: account.transport(), address: DAVAddress(origin: account.origin, base: account.base))
        let token = try #require(try await client.syncToken())
        guard case .refused(let answer) = try await client.changes(since: token) else {
            throw ProviderError(.failed, "it is answered")
        }
        #expect(answer.status == 400)
        #expect(try await DAVJournalProbe(client: client, root: "probe", stamps: false).run() == nil)
    }

    // MARK: - polls

    @Test("A poll is one request where nothing is new, also in the next process")
    func idle() async throws {
        for manners in [Self.tokens, Self.tags, Manners(tokens: Tokens()), Manners(tags: .upwards)] {
            let (server, drive) = try await stocked(manners)
            for _ in 0..<3 {
                guard case .none = try await drive.poll() else { throw ProviderError(.failed, "news") }
            }
            #expect(server.takeLog() == Array(repeating: manners.tokens == nil ? "PROPFIND " : "REPORT ", count: 3))
        }
        let (server, drive) = try await stocked(Self.tokens)
        let next = try await self.drive(server)
        (next.cursor, next.items) = (drive.cursor, drive.items)
        server.with { _ = $0.write("a/b/c/3", "changed meanwhile") }
        _ = server.takeLog()
        guard case .changes(let changed, _, _) = try await next.poll() else { throw ProviderError(.failed, "no token") }
        #expect(changed.map(\.path) == ["a/b/c/3"])
        #expect(server.takeLog() == ["REPORT "])
    }

    @Test("What another program changed is told by one report, as it is now, and what it removed as removed")
    func changes() async throws {
        let (server, drive) = try await stocked(Self.tokens)
        server.with { state in
            state.write("a/b/2", "changed")
            state.write("new ü", "n")
            state.remove("z")
            state.write("a/gone", "x")
            state.remove("a/gone")
        }
        guard case .changes(let changed, let removed, _) = try await drive.poll() else {
            throw ProviderError(.failed, "no changes")
        }
        #expect(Set(changed.map(\.path)) == ["a/b/2", "new ü"])
        #expect(changed.first { $0.path == "a/b/2" }?.size == ByteCount(7))
        #expect(Set(removed) == ["z", "a/gone"])
        // The mark is looked at before anything is taken for gone.
        #expect(server.takeLog() == ["REPORT ", "GET .quire/store.json"])
    }

    @Test("A listing by tags asks for what is above a change, and for nothing else")
    func pruned() async throws {
        let server = try DAVStandIn(Self.tags)
        server.with { state in
            for one in 0..<10 {
                state.makeCollection("\(one)")
                for two in 0..<10 {
                    state.makeCollection("\(one)/\(two)")
                    for three in 0..<9 {
                        state.makeCollection("\(one)/\(two)/\(three)")
                        state.write("\(one)/\(two)/\(three)/file", "x")
                    }
                }
            }
        }
        let drive = try await drive(server)
        try await drive.poll()
        #expect(drive.items.count == 1910)
        _ = server.takeLog()
        server.with { _ = $0.write("3/4/5/file", "changed") }
        try await drive.poll()
        #expect(server.takeLog() == ["PROPFIND ", "PROPFIND ", "PROPFIND 3", "PROPFIND 3/4", "PROPFIND 3/4/5"])
        #expect(drive.items["3/4/5/file"]?.size == ByteCount(7))
        server.with { _ = $0.remove("3/4") }
        guard case .changes(_, let removed, _) = try await drive.poll() else { throw ProviderError(.failed, "none") }
        #expect(removed == ["3/4"])
        #expect(server.takeLog() == ["PROPFIND ", "PROPFIND ", "PROPFIND 3", "GET .quire/store.json"])
        server.with { _ = $0.move("3/5", to: "3/4") }
        let before = drive.cursor
        try await drive.poll()
        #expect(drive.items["3/4/8/file"] != nil && drive.items["3/5/8/file"] == nil)
        // Who could not apply that asks again.
        drive.cursor = before
        guard case .changes(_, let again, _) = try await drive.poll() else { throw ProviderError(.failed, "forgotten") }
        #expect(again == ["3/5"])
    }

    @Test("A report in parts is asked for to its end")
    func parts() async throws {
        let (server, drive) = try await stocked(Manners(tokens: Tokens(tellsStamps: true, page: 3)))
        server.with { state in
            for number in 0..<10 { state.write("a/new\(number)", "x") }
            state.remove("a/new1")
        }
        try await drive.poll()
        #expect(drive.items.keys.filter { $0.parent == "a" }.count == 11)
        #expect(server.takeLog() == Array(repeating: "REPORT ", count: 4) + ["GET .quire/store.json"])
    }

    @Test("A directory that is told is listed with all in it: it may have come as a whole, or in another's place")
    func told() async throws {
        let (server, drive) = try await stocked(Self.tokens)
        server.with { state in
            state.makeCollection("a/x")
            state.makeCollection("a/x/y")
            state.write("a/x/y/z", "deep")
            // As if it had been brought there as a whole.
            state.journal.removeAll { $0.hasPrefix("a/x/") }
        }
        try await drive.poll()
        #expect(drive.items["a/x/y/z"]?.size == ByteCount(4))
        #expect(server.takeLog() == ["REPORT ", "PROPFIND a/x", "PROPFIND a/x/y", "GET .quire/store.json"])
        server.with { state in
            state.remove("a/x")
            state.makeCollection("a/x")
        }
        try await drive.poll()
        #expect(drive.items["a/x"] != nil && drive.items["a/x/y"] == nil && drive.items["a/x/y/z"] == nil)
    }

    // MARK: - tokens that are lost, and what is no report

    @Test(
        "A token that is not known any more has everything listed, whatever the status; then the new one is asked with",
        arguments: ["403 Forbidden", "409 Conflict", "412 Precondition Failed"])
    func expired(status: String) async throws {
        let (server, drive) = try await stocked(Self.tokens)
        server.with { state in
            state.manners.tokens?.refusal = status
            state.remove("z/4")
            state.forgotten = state.journal.count - 1
        }
        guard case .everything = try await drive.poll() else { throw ProviderError(.failed, "no listing") }
        #expect(drive.items["z/4"] == nil && drive.items.count == 8)
        _ = server.takeLog()
        guard case .none = try await drive.poll() else { throw ProviderError(.failed, "news") }
        #expect(server.takeLog() == ["REPORT "])
    }

    @Test("Too much to tell has everything listed")
    func tooMuch() async throws {
        let (server, drive) = try await stocked(Self.tokens)
        let reason = "<D:error xmlns:D=\"DAV:\"><D:number-of-matches-within-limits/></D:error>"
        server.with { $0.mishaps = [("507 Insufficient Storage", reason)] }
        guard case .everything = try await drive.poll() else { throw ProviderError(.failed, "no listing") }
        guard case .none = try await drive.poll() else { throw ProviderError(.failed, "news") }
    }

    @Test("A server that tells no more is listed, as one that never told; devices tell each other again")
    func withdrawn() async throws {
        let (server, drive) = try await stocked(Self.tokens)
        server.with { state in
            state.manners.tokens = nil
            state.write("a/1", "changed")
        }
        guard case .everything = try await drive.poll() else { throw ProviderError(.failed, "no listing") }
        #expect(drive.items["a/1"]?.size == ByteCount(7))
        #expect(drive.provider.abilities.journal == nil)
        try await drive.provider.announce([AnnouncedChange("a/1")])
        #expect(server.with { $0.nodes[".quire/changes/000000000001"] } != nil)
    }

    private static let head = "<D:multistatus xmlns:D=\"DAV:\">"
    private static let mishaps: [(status: String, body: String)] = [
        ("207 Multi-Status", "no XML"),
        ("207 Multi-Status", ""),
        ("207 Multi-Status", "\(head)</D:multistatus>"),
        ("207 Multi-Status", "\(head)<D:sync-token>http://sabre.io/ns/sync/99"),
        ("207 Multi-Status", "\(head)<D:sync-token></D:sync-token></D:multistatus>"),
        (
            "207 Multi-Status",
            "\(head)<D:response><D:href>/other/a</D:href><D:status>HTTP/1.1 404 X</D:status></D:response>"
                + "<D:sync-token>http://sabre.io/ns/sync/99</D:sync-token></D:multistatus>"
        ),
        ("200 OK", "\(head)<D:sync-token>http://sabre.io/ns/sync/99</D:sync-token></D:multistatus>"),
        ("500 Internal Server Error", ""), ("503 Service Unavailable", ""), ("507 Insufficient Storage", ""),
    ]

    @Test("What is no whole report is an error, never taken for unchanged, and nothing is missed after it")
    func garbage() async throws {
        let (server, drive) = try await stocked(Self.tokens)
        for (index, mishap) in Self.mishaps.enumerated() {
            server.with { state in
                state.write("a/b/2", "round \(index)")
                state.mishaps = [mishap]
            }
            let code = await refusal { try await drive.poll() }
            #expect(code != nil, "\(mishap)")
            guard case .changes(let changed, _, _) = try await drive.poll() else {
                throw ProviderError(.failed, "missed after \(mishap)")
            }
            #expect(changed.map(\.path) == ["a/b/2"])
        }
    }

    @Test("A report that does not end is an error")
    func endless() async throws {
        let (server, drive) = try await stocked(Self.tokens)
        let number = server.with { $0.journal.count }
        let part = """
            \(Self.head)<D:response><D:href>/dav/</D:href><D:status>HTTP/1.1 507 X</D:status></D:response>\
            <D:sync-token>http://sabre.io/ns/sync/\(number)</D:sync-token></D:multistatus>
            """
        server.with { $0.mishaps = [("207 Multi-Status", part)] }
        #expect(await refusal { try await drive.poll() } == .failed)
    }

    @Test("A store whose mark is gone is not there: nothing that is told of it counts", arguments: [true, false])
    func emptied(isByTokens: Bool) async throws {
        let (server, drive) = try await stocked(isByTokens ? Self.tokens : Self.tags)
        server.with { state in for path in [".quire", "a", "z", "é &%"] { state.remove(path) } }
        #expect(await refusal { try await drive.poll() } == .unavailable)
        #expect(drive.items.count == 9)
    }

    // MARK: - devices

    @Test(
        "Attributes that the journal does not tell of are told by devices; else these tell nothing",
        arguments: [
            Manners(tokens: Tokens()), Manners(tags: .upwards), tokens, tags,
        ])
    func attributes(manners: DAVStandIn.Manners) async throws {
        let (server, one) = try await stocked(manners)
        let two = try await drive(server)
        try await two.poll()
        try await one.poll()
        let item = try #require(one.items["a/b/2"])
        let stamp = RemoteAttributes(mtime: FileTime(seconds: 1_600_000_000, nanoseconds: 5), mode: 0o600)
        _ = try await one.provider.setAttributes("a/b/2", stamp, expecting: item.version)
        try await one.provider.announce([AnnouncedChange("a/b/2")])
        try await two.poll()
        #expect(two.items["a/b/2"]?.mtime == stamp.mtime && two.items["a/b/2"]?.mode == 0o600)
        let isTold = server.with { $0.nodes[".quire/changes"]?.names.isEmpty == true }
        #expect(isTold == (manners == Self.tokens || manners == Self.tags))
        // And everything, where a record says so.
        try await one.provider.announce(nil)
        let changes = try await two.poll()
        if isTold { #expect(changes.isNone) } else { #expect(changes.isEverything) }
        // A device's own record is no news to it.
        try await one.poll()
        _ = server.takeLog()
        #expect(try await one.poll().isNone)
        #expect(server.takeLog().count == 1)
    }

    @Test("Everything is listed at the pace that was asked for, for what a server forgets to tell")
    func listed() async throws {
        let server = try DAVStandIn(Self.tokens)
        let drive = try await drive(server, pace: ListingPace(interval: .zero))
        for _ in 0..<2 { #expect(try await drive.poll().isEverything) }
        #expect(ListingPace().pauseBesideJournal == .seconds(3600))
    }

    // MARK: - what polls add up to

    private static let histories: [Manners] = [
        tokens, Manners(tokens: Tokens(tellsStamps: true, tellsParents: true)),
        Manners(tokens: Tokens(tellsStamps: true, tellsMembers: false, page: 2)), tags,
    ]

    @Test(
        "What polls tell adds up to what a listing shows, whatever other programs do and however polls fail",
        arguments: histories.indices, 0..<8)
    func history(index: Int, round: Int) async throws {
        // What QUIRE_SEED repeats.
        let seed = getenv("QUIRE_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0..<1_000_000)
        var random = SeededRandom(seed: seed &+ UInt64(index * 1000 + round))
        let (server, drive) = try await stocked(Self.histories[index])
        let observer = try await self.drive(server, pace: nil)
        let names = ["a", "b", "c", "é"]
        func path() -> String {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in names.randomElement(using: &random) ?? "a" }
                .joined(separator: "/")
        }
        for step in 0..<40 {
            server.with { state in
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<4:
                        let path = path()
                        if state.nodes[path]?.isCollection == true { state.remove(path) }
                        state.write(path, "\(step)")
                    case 4..<6:
                        let path = path()
                        if state.nodes[path]?.isCollection == false { state.remove(path) }
                        state.makeCollection(path)
                    case 6: state.remove(path())
                    default: state.move(path(), to: path())
                    }
                }
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where Self.histories[index].tokens != nil:
                server.with { $0.mishaps = [("207 Multi-Status", "cut")] }
                #expect(await refusal { try await drive.poll() } != nil)
            case 1: server.with { $0.forgotten = $0.journal.count }
            default: break
            }
            let before = (drive.cursor, drive.items)
            try await drive.poll()
            if Int.random(in: 0..<4, using: &random) == 0 {
                // What was told could not be applied.
                (drive.cursor, drive.items) = before
                try await drive.poll()
            }
            guard case .everything(let all, _) = try await observer.provider.changes(since: nil) else {
                throw ProviderError(.failed, "no listing")
            }
            try #require(
                drive.items == Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) }),
                "step \(step), QUIRE_SEED=\(seed)")
        }
    }
}

extension RemoteChanges {
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
    fileprivate var isEverything: Bool { if case .everything = self { true } else { false } }
}
