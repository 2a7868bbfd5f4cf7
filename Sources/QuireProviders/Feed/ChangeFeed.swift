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
    enum News: Equatable {
        case paths([RelativePath])
        case everything
    }

    private struct State {
        /// Where the next record is tried.
        var next: Int?
        /// Records of this device.
        var own: Set<Int> = []
        var listed: (at: ContinuousClock.Instant, took: Duration)?
    }

    private let store: any ChangeRecordStore
    private let pace: ListingPace
    private let now: @Sendable () -> ContinuousClock.Instant
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// How many records stay; older ones are known by whoever looks at all.
    private static let kept = 512
    private static let sweptEvery = 64

    init(
        _ store: any ChangeRecordStore, pace: ListingPace,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.store, self.pace, self.now) = (store, pace, now)
    }

    // MARK: - telling

    /// Creates the next record.
    func announce(_ record: ChangeRecord) async throws(ProviderError) {
        var number: Int
        if let known = state.withLock({ $0.next }) { number = known } else { number = try await latest() + 1 }
        var tries = 0
        while try await !store.create(number, record.bytes) {
            tries += 1
            // Far behind the others: one look instead of many tries.
            number = tries % 8 == 0 ? max(try await latest(), number) + 1 : number + 1
        }
        let made = number
        state.withLock { state in
            state.next = max(state.next ?? 0, made + 1)
            state.own.insert(made)
            if state.own.count > 4 * Self.kept { state.own = state.own.filter { $0 > made - Self.kept } }
        }
        if made % Self.sweptEvery == 0 { await sweep(before: made - Self.kept) }
    }

    /// What cannot be removed is left to the next time.
    private func sweep(before oldest: Int) async {
        guard let numbers = try? await store.numbers() else { return }
        for number in numbers where number < oldest { _ = try? await store.remove(number) }
    }

    private func latest() async throws(ProviderError) -> Int { try await store.numbers().max() ?? 0 }

    // MARK: - looking

    /// Up to where there are records, before everything is listed.
    ///
    /// - Parameter position: up to where they were read; nil where nobody knows.
    func position(after position: Int?) async throws(ProviderError) -> Int {
        guard let position else { return try await latest() }
        return try await news(after: position).position
    }

    /// What records after `position` say, but for this device's own.
    func news(after position: Int) async throws(ProviderError) -> (news: News, position: Int) {
        var position = position
        var paths: Set<RelativePath> = []
        var isEverything = false
        while true {
            if !state.withLock({ $0.own.contains(position + 1) }) {
                guard let bytes = try await store.read(position + 1) else { break }
                switch ChangeRecord(reading: bytes) {
                case .everything: isEverything = true
                case .paths(let more): paths.formUnion(more)
                }
            }
            position += 1
        }
        let reached = position
        state.withLock { $0.next = max($0.next ?? 0, reached + 1) }
        let isMuch = isEverything || paths.count > ChangeRecord.mostPaths
        return (isMuch ? .everything : .paths(Array(paths)), position)
    }

    // MARK: - listings

    /// Whether it is time to list everything again.
    var isListingDue: Bool {
        guard let (at, took) = state.withLock({ $0.listed }) else { return true }
        return now() - at >= pace.pause(after: took)
    }

    /// Everything was listed.
    func listed(since start: ContinuousClock.Instant) {
        let end = now()
        state.withLock { $0.listed = (end, end - start) }
    }

    var clock: ContinuousClock.Instant { now() }
}
