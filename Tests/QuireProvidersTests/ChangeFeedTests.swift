import QuireCore
@testable import QuireProviders
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChangeFeedTests {
    /// Records in memory.
    private final class Records: ChangeRecordStore {
        let keepsFirst: Bool

        init(keepsFirst: Bool = true) { self.keepsFirst = keepsFirst }

        private let state = Lock((records: [Int: [UInt8]](), reads: 0, listings: 0))

        var reads: Int { state.withLock { $0.reads } }
        var listings: Int { state.withLock { $0.listings } }
        var all: [Int] { state.withLock { $0.records.keys.sorted() } }

        func read(_ number: Int) async throws(ProviderError) -> [UInt8]? {
            state.withLock { state in
                state.reads += 1
                return state.records[number]
            }
        }

        func create(_ number: Int, _ bytes: [UInt8]) async throws(ProviderError) -> Bool {
            state.withLock { state in
                guard state.records[number] == nil || !keepsFirst else { return false }
                state.records[number] = bytes
                return true
            }
        }

        func numbers() async throws(ProviderError) -> [Int] {
            state.withLock { state in
                state.listings += 1
                return Array(state.records.keys)
            }
        }

        func remove(_ number: Int) async throws(ProviderError) { state.withLock { $0.records[number] = nil } }
    }

    private let records = Records()
    private func feed(_ pace: ListingPace = ListingPace(interval: .seconds(3600))) -> ChangeFeed {
        ChangeFeed(records, pace: pace)
    }

    @Test(
        "Records are read as they were written; what cannot be read means everything",
        arguments: [
            ChangeRecord.everything, .changes([]), .paths(["a", "b c/ü\n%", "*"]),
            .changes([
                AnnouncedChange("a"),
                AnnouncedChange("b c/ü %", ProviderVersion("v \n/1"), .at(1_790_000_000, 5, 0o600)),
                AnnouncedChange("before 1970", ProviderVersion("\"w\""), .at(-2, 999_999_999, 0o777)),
            ]),
        ])
    func record(record: ChangeRecord) {
        #expect(ChangeRecord(reading: record.bytes()) == record)
    }

    @Test("What is no record, or has too many paths, means everything")
    func unreadable() {
        let texts = [
            "", "quire-changes 3\na\n", "quire-changes 1\n/a\n", "quire-changes 1\na/../b\n",
            "quire-changes 2\na 1.5 644\n",
            "quire-changes 2\na 1.5 1644 v\n", "quire-changes 2\na x 644 v\n", "quire-changes 2\na 1.5 644 %FF\n",
        ]
        for text in texts { #expect(ChangeRecord(reading: Array(text.utf8)) == .everything, "\(text)") }
        let many = (0...ChangeRecord.mostPaths).compactMap { RelativePath(parsing: "f\($0)") }
        #expect(ChangeRecord.paths(many) == .everything)
        #expect(ChangeRecord(nil) == .everything)
        #expect(ChangeRecord.paths(["a"]) == .changes([AnnouncedChange("a")]))
    }

    @Test("Records are lines that say what they mean, and no two are the same")
    func lines() {
        func text(_ record: ChangeRecord) -> String { String(decoding: record.bytes(unique: 0x2A), as: UTF8.self) }
        #expect(text(.paths(["a b"])) == "quire-changes 1 2a\na%20b\n")
        let change = AnnouncedChange("a", ProviderVersion("v"), .at(1, 250_000_000, 0o644))
        #expect(text(ChangeRecord([change])) == "quire-changes 2 2a\na 1.250000000 644 v\n")
        #expect(ChangeRecord(reading: Array("quire-changes 1\na%20b\n".utf8)) == .paths(["a b"]))
        #expect(ChangeRecord.everything.bytes() != ChangeRecord.everything.bytes())
    }

    @Test("A device hears of others' changes once, and not of its own; nothing new costs one request")
    func news() async throws {
        let (one, two) = (feed(), feed())
        try await one.announce(.paths(["a"]))
        try await two.announce(.paths(["b"]))
        try await one.announce(.paths(["c", "a"]))
        #expect(records.all == [1, 2, 3])
        let (news, position) = try await two.news(after: 0)
        #expect(position.number == 3)
        #expect(!news.isEverything && Set(news.changes.keys) == ["a", "c"])
        let before = records.reads
        #expect(try await two.news(after: position) == (ChangeFeed.News(), position))
        #expect(records.reads == before + 1)
        try await one.announce(.everything)
        let (next, reached) = try await two.news(after: position)
        #expect(next == ChangeFeed.News(isEverything: true) && reached.number == 4)
        let many = (0...ChangeFeed.mostLooks).compactMap { RelativePath(parsing: "f\($0)") }
        try await one.announce(.paths(many))
        #expect(try await two.news(after: 4).news.isEverything)
    }

    @Test("Devices that tell at the same time get numbers of their own; nothing is lost")
    func concurrent() async throws {
        let feeds = (0..<8).map { _ in feed() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, feed) in feeds.enumerated() {
                group.addTask {
                    for step in 0..<20 {
                        try await feed.announce(.paths([try #require(RelativePath(parsing: "\(index)/\(step)"))]))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(records.all == Array(1...160))
        let (news, _) = try await feed().news(after: 0)
        #expect(!news.isEverything && news.changes.count == 160)
    }

    @Test("Old records go; the newest stay")
    func sweep() async throws {
        let feed = feed()
        for _ in 0..<1100 { try await feed.announce(.paths(["a"])) }
        #expect(records.all.count <= 512 + 64 + 1)
        #expect(records.all.last == 1100)
        #expect(records.all.contains(1100 - 500))
    }

    @Test("A device that was away for longer than records stay goes on after the newest")
    func away() async throws {
        let feed = feed()
        for _ in 0..<1100 { try await feed.announce(.paths(["a"])) }
        let position = try await self.feed().newsBeforeListing(after: 3, readsBack: false).position
        #expect(position.number == 1100)
        // One that is there, after one that is gone.
        let (gap, last) = try await self.feed().news(after: 3, through: 1000)
        #expect(gap == ChangeFeed.News(isEverything: true) && last.number == 1000)
        let (news, reached) = try await self.feed().news(after: 1098, through: 1099)
        #expect(news.changes.keys.elementsEqual(["a"]) && !news.isEverything && reached.number == 1099)
    }

    /// Where a device is that has read all that there is.
    private func cursor() async throws -> ChangeCursor {
        let (_, position) = try await feed().newsBeforeListing(after: nil, readsBack: false)
        return FeedCursor(position: position, listing: ChangeCursor("listing")).cursor
    }

    /// Whether a device that has read up to `cursor` finds the store set back when it lists everything, and where it goes on then.
    private func look(_ cursor: ChangeCursor, _ feed: ChangeFeed) async throws -> ChangeCursor? {
        let (_, position) = try await feed.newsBeforeListing(after: FeedCursor(cursor)?.position, readsBack: false)
        return try await feed.setBack(
            before: cursor, next: FeedCursor(position: position, listing: ChangeCursor("listing")).cursor)
    }

    @Test("A store that was set back is known by the record that is gone, and goes on from the last that is there")
    func setBack() async throws {
        let (one, two) = (feed(), feed())
        for _ in 0..<30 { try await one.announce(.paths(["a"])) }
        let before = try await cursor()
        for _ in 0..<10 { try await one.announce(.paths(["a"])) }
        let cursor = try await cursor()
        #expect(try await look(cursor, two) == nil)
        for number in 31...40 { try await records.remove(number) }
        let found = try #require(try await look(cursor, two).flatMap(FeedCursor.init))
        // What journal and listing were is older than that, too.
        #expect(found.position == FeedCursor(before)?.position && found.listing == nil)
        #expect(try await look(found.cursor, two) == nil)
        try await two.announce(.paths(["b"]))
        #expect(records.all.last == 31)
        #expect(try await self.feed().news(after: 30).news.changes.keys.elementsEqual(["b"]))
        // Others go on from theirs: a gap shows it still.
        #expect(try await look(cursor, self.feed()) != nil)
        for _ in 0..<700 { try await two.announce(.paths(["a"])) }
        for number in records.all where number < 200 { try await records.remove(number) }
        let old = FeedCursor(position: 3, listing: nil).cursor
        #expect(try await look(old, self.feed()) == nil)
    }

    @Test(
        "So it is where a device has told others of something since, under the same number, and once only",
        arguments: [1, 5])
    func filled(records count: Int) async throws {
        let one = feed()
        for _ in 0..<41 { try await one.announce(.paths(["a"])) }
        let cursor = try await cursor()
        try await records.remove(41)
        let two = feed()
        for _ in 0..<count { try await two.announce(.paths(["a"])) }
        let found = try #require(try await look(cursor, two))
        #expect(FeedCursor(found)?.position.number == 40 + count)
        #expect(try await look(found, two) == nil)
        #expect(try await look(found, self.feed()) == nil)
    }

    @Test("So it is where a device that has not noticed went on with the numbers")
    func unnoticed() async throws {
        let one = feed()
        for _ in 0..<42 { try await one.announce(.paths(["a"])) }
        let cursor = try await cursor()
        for number in 31...42 { try await records.remove(number) }
        try await one.announce(.paths(["b"]))
        for feed in [one, self.feed()] {
            let (news, position) = try await feed.news(after: try #require(FeedCursor(cursor)).position)
            #expect(news.isEverything && position.number == 43)
            let next = FeedCursor(position: position, listing: nil).cursor
            let found = try #require(try await feed.setBack(before: cursor, next: next))
            #expect(try await !feed.news(after: try #require(FeedCursor(found)).position).news.isEverything)
            #expect(try await look(found, feed) == nil)
        }
    }

    @Test("Where the second of two records of one number may stay, that tells of nothing")
    func secondStays() async throws {
        let records = Records(keepsFirst: false)
        let pace = ListingPace(interval: .seconds(3600))
        let (one, two) = (ChangeFeed(records, pace: pace), ChangeFeed(records, pace: pace))
        for feed in [one, two] {
            try await feed.announce(.paths(["a"]))
            _ = try await records.create(1, ChangeRecord.paths(["b"]).bytes())
            let (_, position) = try await feed.news(after: 0)
            let cursor = FeedCursor(position: position, listing: nil).cursor
            _ = try await records.create(1, ChangeRecord.paths(["c"]).bytes())
            #expect(try await look(cursor, feed) == nil)
        }
    }

    @Test("A gap before a record that is there is told once only")
    func gap() async throws {
        let (one, two) = (feed(), feed())
        for _ in 0..<42 { try await one.announce(.paths(["a"])) }
        let cursor = try await cursor()
        for number in 31...42 { try await records.remove(number) }
        // It has not noticed.
        try await one.announce(.paths(["a"]))
        #expect(records.all.last == 43)
        let found = try #require(try await look(cursor, two))
        #expect(FeedCursor(found)?.position.number == 43 && FeedCursor(found)?.listing != nil)
        #expect(try await look(found, two) == nil)
    }

    @Test("A device that was away for longer than records are kept hears of what comes after its first listing")
    func awayForLong() async throws {
        let one = feed()
        for _ in 0..<700 { try await one.announce(.paths(["a"])) }
        for number in records.all where number < 600 { try await records.remove(number) }
        let reader = reader(feed(), looks: false)
        let old = FeedCursor(position: 3, listing: nil).cursor
        guard case .everything(_, let next?) = try await reader.changes(since: old) else {
            throw ProviderError(.failed, "no listing")
        }
        try await one.announce(.paths(["b"]))
        guard case .changes(let changed, _, _) = try await reader.changes(since: next) else {
            throw ProviderError(.failed, "stuck where records are gone")
        }
        #expect(changed.map(\.path) == ["b"])
    }

    @Test("Everything is listed at the start and as often as asked; between, only what records name is looked at")
    func reader() async throws {
        let counts = Lock((listings: 0, looks: [RelativePath]()))
        let time = Lock(ContinuousClock.now)
        let one = feed()
        let two = ChangeFeed(records, pace: ListingPace(interval: .seconds(100)), now: { time.withLock { $0 } })
        let item: @Sendable (RelativePath) -> RemoteItem = { path in
            RemoteItem(path: path, kind: .file, version: ProviderVersion("1"), size: .zero, mtime: .unknown)
        }
        let reader = FeedReader(
            feed: two,
            list: { () async throws(ProviderError) in
                counts.withLock { $0.listings += 1 }
                return [item("a")]
            },
            look: { (path) async throws(ProviderError) in
                counts.withLock { $0.looks.append(path) }
                return path == "gone" ? nil : item(path)
            })
        try await one.announce(.paths(["old"]))
        guard case .everything(let items, let first?) = try await reader.changes(since: nil) else {
            throw ProviderError(.failed, "no listing")
        }
        #expect(items.map(\.path) == ["a"])
        guard case .none(let second?) = try await reader.changes(since: first) else {
            throw ProviderError(.failed, "news where there are none")
        }
        try await one.announce(.paths(["b", "gone"]))
        guard case .changes(let changed, let removed, let third?) = try await reader.changes(since: second) else {
            throw ProviderError(.failed, "no news")
        }
        #expect(changed.map(\.path) == ["b"] && removed == ["gone"])
        #expect(counts.withLock { $0.listings } == 1)
        // The same again: who could not apply what was found asks once more.
        guard case .changes = try await reader.changes(since: second) else { throw ProviderError(.failed, "forgotten") }
        guard case .none(let fourth?) = try await reader.changes(since: third) else {
            throw ProviderError(.failed, "twice")
        }
        time.withLock { $0 += .seconds(101) }
        guard case .everything(_, let fifth?) = try await reader.changes(since: fourth) else {
            throw ProviderError(.failed, "no second listing")
        }
        guard case .none = try await reader.changes(since: fifth) else { throw ProviderError(.failed, "not equal") }
        #expect(counts.withLock { $0.listings } == 2)
        try await one.announce(.everything)
        // The same listing as the last: nothing new.
        guard case .none = try await reader.changes(since: fifth) else { throw ProviderError(.failed, "not equal") }
        #expect(counts.withLock { $0.listings } == 3)
    }

    @Test("What somebody undid of what this device did is found by the next listing, though it is as the one before")
    func undone() async throws {
        let time = Lock(ContinuousClock.now)
        let feed = ChangeFeed(records, pace: ListingPace(interval: .seconds(100)), now: { time.withLock { $0 } })
        let reader = reader(feed, looks: false)
        guard case .everything(_, let first?) = try await reader.changes(since: nil) else {
            throw ProviderError(.failed, "no listing")
        }
        // Made here, and deleted by somebody before anything is listed.
        try await feed.announce(.paths(["c"]))
        guard case .none(let second?) = try await reader.changes(since: first) else {
            throw ProviderError(.failed, "this device's own is no news")
        }
        time.withLock { $0 += .seconds(101) }
        guard case .everything(let items, let third?) = try await reader.changes(since: second) else {
            throw ProviderError(.failed, "the deletion is missed")
        }
        #expect(items.map(\.path) == ["a", "b"])
        // Read beside the listing itself, likewise.
        try await feed.announce(.paths(["c"]))
        time.withLock { $0 += .seconds(101) }
        guard case .everything(_, let fourth?) = try await reader.changes(since: third) else {
            throw ProviderError(.failed, "the deletion is missed")
        }
        time.withLock { $0 += .seconds(101) }
        guard case .none = try await reader.changes(since: fourth) else { throw ProviderError(.failed, "not equal") }
    }

    /// A store whose listings have its own times only, and whose looks have none of those uploaded, or all.
    private func reader(
        _ feed: ChangeFeed, looks: Bool, mostLookedAtFirst: Int = 0, refusing refusal: ProviderError.Code? = nil
    ) -> FeedReader {
        let item: @Sendable (RelativePath) -> RemoteItem = { path in
            RemoteItem(
                path: path, kind: .file, version: ProviderVersion("1"), size: ByteCount(1),
                mtime: FileTime(seconds: 99, nanoseconds: 0))
        }
        return FeedReader(
            feed: feed, list: { () async throws(ProviderError) in [item("a"), item("b")] },
            look: { (path) async throws(ProviderError) in
                if let refusal, path == "b" { throw ProviderError(refusal, "refused") }
                var item = item(path)
                if looks { (item.mtime, item.mode) = (FileTime(seconds: 7, nanoseconds: 0), 0o640) }
                return item
            }, listsAttributes: false, mostLookedAtFirst: mostLookedAtFirst)
    }

    /// Mode of `path`; nil where the item has the store's own time.
    private func mode(_ changes: RemoteChanges, _ path: RelativePath) -> UInt16? {
        switch changes {
        case .none: nil
        case .everything(let items, _), .changes(let items, _, _): items.first { $0.path == path }?.mode
        }
    }

    @Test(
        "What records say of attributes is on the items, of listings as of looks, but only of the version it belongs to"
    )
    func attributes() async throws {
        let one = feed()
        let time = Lock(ContinuousClock.now)
        let two = ChangeFeed(records, pace: ListingPace(interval: .seconds(100)), now: { time.withLock { $0 } })
        let reader = reader(two, looks: false)
        guard case .everything(_, let first?) = try await reader.changes(since: nil) else {
            throw ProviderError(.failed, "no listing")
        }
        try await one.announce(
            ChangeRecord([
                AnnouncedChange("a", ProviderVersion("1"), .at(5, 0, 0o600)),
                AnnouncedChange("b", ProviderVersion("another"), .at(5, 0, 0o600)),
            ]))
        let looked = try await reader.changes(since: first)
        #expect(mode(looked, "a") == 0o600 && mode(looked, "b") == nil)
        // The same record read beside a listing, which is as the one before.
        time.withLock { $0 += .seconds(101) }
        let listed = try await reader.changes(since: first)
        #expect(mode(listed, "a") == 0o600 && mode(listed, "b") == nil)
        guard case .everything(let items, let next?) = listed else { throw ProviderError(.failed, "nothing new") }
        #expect(items.first { $0.path == "a" }?.mtime == FileTime(seconds: 5, nanoseconds: 0))
        guard case .none = try await reader.changes(since: next) else { throw ProviderError(.failed, "twice") }
    }

    @Test("Who sees a store first takes attributes from the newest records, the last of each document")
    func readBack() async throws {
        let one = feed()
        try await one.announce(ChangeRecord([AnnouncedChange("a", ProviderVersion("1"), .at(3, 0, 0o611))]))
        try await one.announce(.everything)
        try await one.announce(ChangeRecord([AnnouncedChange("a", ProviderVersion("1"), .at(4, 0, 0o622))]))
        let seen = try await reader(feed(), looks: false).changes(since: nil)
        #expect(mode(seen, "a") == 0o622 && mode(seen, "b") == nil)
    }

    @Test("Who sees a small store first looks at each document whose attributes listings lack; of many, at none")
    func first() async throws {
        let looks = try await reader(feed(), looks: true, mostLookedAtFirst: 2).changes(since: nil)
        #expect(mode(looks, "a") == 0o640 && mode(looks, "b") == 0o640)
        let lists = try await reader(feed(), looks: true, mostLookedAtFirst: 1).changes(since: nil)
        #expect(mode(lists, "a") == nil && mode(lists, "b") == nil)
    }

    @Test(
        "A document of a small store that cannot be looked at is listed all the same; of a store that is away, none is")
    func firstRefused() async throws {
        let reader = reader(feed(), looks: true, mostLookedAtFirst: 2, refusing: .failed)
        guard case .everything(let items, _) = try await reader.changes(since: nil) else {
            throw ProviderError(.failed, "no listing")
        }
        #expect(items.map(\.path) == ["a", "b"] && items.map(\.mode) == [0o640, nil])
        let away = self.reader(feed(), looks: true, mostLookedAtFirst: 2, refusing: .unavailable)
        await #expect(throws: ProviderError.self) { try await away.changes(since: nil) }
    }

    @Test(
        "Times of metadata are read to the nanosecond, and nothing else is",
        arguments: [
            ("1.5", FileTime(seconds: 1, nanoseconds: 500_000_000)), ("12", FileTime(seconds: 12, nanoseconds: 0)),
            ("1790000000.123456789", FileTime(seconds: 1_790_000_000, nanoseconds: 123_456_789)), ("", nil),
            ("1.", nil),
            ("1.0000000001", nil), ("a", nil), ("1.-5", nil), ("99999999999999", nil),
        ])
    func times(text: String, time: FileTime?) {
        #expect(DecimalTime.parse(text) == time)
    }

    @Test("By itself a listing is made as often as takes a twentieth of the time, and every hour")
    func pace() {
        #expect(ListingPace().pause(after: .milliseconds(50)) == .seconds(1))
        #expect(ListingPace().pause(after: .seconds(3000)) == .seconds(3600))
        #expect(ListingPace(interval: .zero).pause(after: .seconds(9)) == .zero)
    }
}

extension ChangeRecord {
    fileprivate static func paths(_ paths: [RelativePath]) -> ChangeRecord {
        ChangeRecord(paths.map { AnnouncedChange($0) })
    }
}

extension RemoteAttributes {
    fileprivate static func at(_ seconds: Int, _ nanoseconds: Int, _ mode: UInt16) -> RemoteAttributes {
        RemoteAttributes(mtime: FileTime(seconds: seconds, nanoseconds: nanoseconds), mode: mode)
    }
}

extension FeedPosition: ExpressibleByIntegerLiteral {
    /// Of which nothing else is known.
    public init(integerLiteral number: Int) { self.init(number) }
}
