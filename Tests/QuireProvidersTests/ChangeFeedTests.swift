import QuireCore
@testable import QuireProviders
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChangeFeedTests {
    /// Records in memory.
    private final class Records: ChangeRecordStore {
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
                guard state.records[number] == nil else { return false }
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
            ChangeRecord.everything, .paths([]), .paths(["a", "b c/ü\n%", "*"]),
        ])
    func record(record: ChangeRecord) {
        #expect(ChangeRecord(reading: record.bytes) == record)
    }

    @Test("What is no record, or has too many paths, means everything")
    func unreadable() {
        for text in ["", "quire-changes 2\na\n", "quire-changes 1\n/a\n", "quire-changes 1\na/../b\n"] {
            #expect(ChangeRecord(reading: Array(text.utf8)) == .everything, "\(text)")
        }
        let many = (0...ChangeRecord.mostPaths).compactMap { RelativePath(parsing: "f\($0)") }
        #expect(ChangeRecord(many) == .everything)
        #expect(ChangeRecord(nil) == .everything)
        #expect(ChangeRecord(["a"]) == .paths(["a"]))
    }

    @Test("A device hears of others' changes once, and not of its own; nothing new costs one request")
    func news() async throws {
        let (one, two) = (feed(), feed())
        try await one.announce(.paths(["a"]))
        try await two.announce(.paths(["b"]))
        try await one.announce(.paths(["c", "a"]))
        #expect(records.all == [1, 2, 3])
        let (news, position) = try await two.news(after: 0)
        #expect(position == 3)
        guard case .paths(let paths) = news else { throw ProviderError(.failed, "\(news)") }
        #expect(Set(paths) == ["a", "c"])
        let before = records.reads
        #expect(try await two.news(after: position) == (.paths([]), 3))
        #expect(records.reads == before + 1)
        try await one.announce(.everything)
        #expect(try await two.news(after: position) == (.everything, 4))
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
        guard case .paths(let paths) = news else { throw ProviderError(.failed, "\(news)") }
        #expect(Set(paths).count == 160)
    }

    @Test("Old records go; the newest stay")
    func sweep() async throws {
        let feed = feed()
        for _ in 0..<1100 { try await feed.announce(.paths(["a"])) }
        #expect(records.all.count <= 512 + 64 + 1)
        #expect(records.all.last == 1100)
        #expect(records.all.contains(1100 - 500))
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

    @Test("By itself a listing is made as often as takes a twentieth of the time, and every hour")
    func pace() {
        #expect(ListingPace().pause(after: .milliseconds(50)) == .seconds(1))
        #expect(ListingPace().pause(after: .seconds(3000)) == .seconds(3600))
        #expect(ListingPace(interval: .zero).pause(after: .seconds(9)) == .zero)
    }
}
