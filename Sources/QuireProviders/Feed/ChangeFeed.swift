import QuireCore
import Synchronization

/// Tells a device what others have changed with one request, where the store itself can only list everything.
///
///     a device that has changed something    creates  .quire/changes/000000000042
///     a device that looks for changes        reads 42, 43, … until there is none, and looks at what they name
///
/// Nothing rests on it but speed: writers that know nothing of it, and records that were lost, are found by listings of
/// everything, which take place at the start and then as often as `Pace` says. Callable from any task.
final class ChangeFeed: Sendable {
    /// What was found.
    struct News: Equatable {
        /// The last that was told of each path.
        var changes: [RelativePath: AnnouncedChange] = [:]
        /// Everything is to be looked at.
        var isEverything = false
        /// There were records of this device's own.
        var hasOwn = false
    }

    private struct State {
        /// Where the next record is tried.
        var next: Int?
        /// Records of this device.
        var own: [Int: FeedPosition] = [:]
        var listed: (at: ContinuousClock.Instant, took: Duration)?
        /// When the newest number was last looked for.
        var counted: ContinuousClock.Instant?
    }

    private let store: any ChangeRecordStore
    private let pace: ListingPace
    private let now: @Sendable () -> ContinuousClock.Instant
    private let created: ContinuousClock.Instant
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// How many records stay; older ones are known by whoever looks at all.
    private static let kept = 512
    private static let sweptEvery = 64
    /// In less time not all that stay are followed by others.
    private static let recount = Duration.seconds(600)
    /// As many are read by a device that sees the store for the first time.
    private static let mostReadBack = 64
    /// With more paths, looking at each costs more than a listing does.
    static let mostLooks = 500

    init(
        _ store: any ChangeRecordStore, pace: ListingPace,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.store, self.pace, self.now, created) = (store, pace, now, now())
    }

    // MARK: - telling

    /// Creates the next record.
    func announce(_ record: ChangeRecord) async throws(ProviderError) {
        var number: Int
        if let known = state.withLock({ $0.next }) { number = known } else { number = try await latest() + 1 }
        let bytes = record.bytes()
        var tries = 0
        while try await !store.create(number, bytes) {
            tries += 1
            // Far behind the others: one look instead of many tries.
            number = tries % 8 == 0 ? max(try await latest(), number) + 1 : number + 1
        }
        let made = number
        state.withLock { state in
            state.next = max(state.next ?? 0, made + 1)
            state.own[made] = position(made, of: bytes)
            if state.own.count > 4 * Self.kept { state.own = state.own.filter { $0.key > made - Self.kept } }
        }
        if made % Self.sweptEvery == 0 { await sweep(before: made - Self.kept) }
    }

    /// What cannot be removed is left to the next time.
    private func sweep(before oldest: Int) async {
        guard let numbers = try? await store.numbers() else { return }
        for number in numbers where number < oldest { _ = try? await store.remove(number) }
    }

    /// Where the store may keep the second of two records that were created at one moment, a number says nothing of its record.
    private func position(_ number: Int, of record: [UInt8]?) -> FeedPosition {
        store.keepsFirst ? FeedPosition(number, of: record) : FeedPosition(number)
    }

    private func latest() async throws(ProviderError) -> Int { try await store.numbers().max() ?? 0 }

    // MARK: - looking

    /// Up to where there are records, before everything is listed, and what they say.
    ///
    /// - Parameters:
    ///   - position: up to where they were read; nil where nobody knows.
    ///   - readsBack: who does not know is told what the newest records say.
    func newsBeforeListing(
        after position: FeedPosition?, readsBack: Bool
    ) async throws(ProviderError) -> (news: News, position: FeedPosition) {
        let start = now()
        guard let position else {
            let found = try await newest(readsBack ? Self.mostReadBack : 0)
            state.withLock { $0.counted = start }
            return found
        }
        var found = try await news(after: position)
        if found.position.number > position.number { return found }
        if let counted = state.withLock({ $0.counted }), start - counted < Self.recount { return found }
        // Those after it may have been removed while this device was away: the listing has what they said.
        let latest = try await latest()
        if latest > position.number { found.position = self.position(latest, of: try await store.read(latest)) }
        state.withLock { $0.counted = start }
        return found
    }

    /// What the newest records say, this device's own included.
    private func newest(_ count: Int) async throws(ProviderError) -> (news: News, position: FeedPosition) {
        let numbers = try await store.numbers().sorted()
        var news = News(isEverything: true)
        var position = FeedPosition(numbers.last ?? 0)
        // The last is read in any case: see `setBack`.
        let records = try await forEach(numbers.suffix(max(1, count)), limit: 8) {
            [store] (number) async throws(ProviderError) in (number, try await store.read(number))
        }
        for (number, bytes) in records.sorted(by: { $0.0 < $1.0 }) {
            if number == position.number { position = self.position(number, of: bytes) }
            guard count > 0, let bytes, case .changes(let changes) = ChangeRecord(reading: bytes) else { continue }
            for change in changes { news.changes[change.path] = change }
        }
        return (news, position)
    }

    /// What records after `position` say, but for this device's own.
    ///
    /// - Parameter last: a record that is there; nil for as many as there are. Where one before it is gone, nobody knows what
    ///   it said.
    func news(
        after position: FeedPosition, through last: Int? = nil
    ) async throws(ProviderError) -> (news: News, position: FeedPosition) {
        let known = position
        var position = position
        var news = News()
        while position.number < last ?? .max {
            let next = position.number + 1
            if let own = state.withLock({ $0.own[next] }) {
                news.hasOwn = true
                position = own
            } else {
                guard let bytes = try await store.read(next) else {
                    guard let last else { break }
                    news.isEverything = true
                    position = self.position(last, of: try await store.read(last))
                    break
                }
                position = self.position(next, of: bytes)
                switch ChangeRecord(reading: bytes) {
                case .everything: news.isEverything = true
                case .changes(let changes): for change in changes { news.changes[change.path] = change }
                }
            }
        }
        let reached = position.number
        state.withLock { $0.next = max($0.next ?? 0, reached + 1) }
        // Who knew nothing of it may have gone on with the numbers after the store was set back.
        if reached > known.number, known.number > 0, reached < known.number + Self.kept {
            if known.isLost(try await store.read(known.number)) { news.isEverything = true }
        }
        if news.changes.count > Self.mostLooks { news.isEverything = true }
        return (news, position)
    }

    /// As `DocumentProvider.setBack`: the record that was read last is another, or it is gone, though it is too young to have been
    /// swept.
    func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor? {
        guard let position = FeedCursor(cursor)?.position, position.number > 0, var next = FeedCursor(next) else {
            return nil
        }
        let record = try await store.read(position.number)
        guard position.isLost(record) else { return nil }
        let numbers = try await store.numbers()
        let latest = numbers.max() ?? 0
        if record == nil, numbers.contains(position.number) || latest >= position.number + Self.kept { return nil }
        state.withLock { state in
            state.next = latest + 1
            state.own = state.own.filter { $0.key <= latest }
        }
        // What was read of the records from there on is older than this, too.
        if latest < next.position.number { next.listing = nil }
        let last = min(next.position.number, latest)
        next.position = self.position(last, of: last > 0 ? try await store.read(last) : nil)
        return next.cursor
    }

    // MARK: - listings

    /// Whether it is time to list everything again.
    var isListingDue: Bool {
        guard let (at, took) = state.withLock({ $0.listed }) else { return true }
        return now() - at >= pace.pause(after: took)
    }

    /// As `isListingDue`, where the store tells what changes in it: for what it forgets to tell. Not at the start.
    var isListingDueBesideJournal: Bool {
        now() - (state.withLock { $0.listed }?.at ?? created) >= pace.pauseBesideJournal
    }

    /// Everything was listed.
    func listed(since start: ContinuousClock.Instant) {
        let end = now()
        state.withLock { $0.listed = (end, end - start) }
    }

    var clock: ContinuousClock.Instant { now() }
}
