import Glibc
import QuireCore

/// Brings content that is to be here and is not: what came into a pinned directory, what was pinned while the provider was
/// away, what got the name of a backup while the daemon was stopped and lost its place to another document: the provider has
/// the only content of that, at this very place.
struct PinnedContent: Sendable {
    let index: any SyncIndex
    let settings: SyncSettings
    let clock: SyncClock
    let pause: PauseSwitch
    private let wakeUp = WakeSignal()

    init(index: any SyncIndex, settings: SyncSettings, clock: SyncClock, pause: PauseSwitch) {
        (self.index, self.settings, self.clock, self.pause) = (index, settings, clock, pause)
    }

    /// Before another attempt at what failed.
    private static let pause = Duration.seconds(60)
    /// Between two looks.
    private static let rest = Duration.milliseconds(500)
    private static let page = 256

    /// Looks after each change of the index, and when a pause ends, until the task is cancelled.
    ///
    /// - Parameter bring: downloads one file, by its path below the drive's root and its inode in the store.
    func run(_ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        change.yield()
        await withDiscardingTaskGroup { group in
            group.addTask { [commits = index.commits()] in for await _ in commits { change.yield() } }
            group.addTask {
                while !Task.isCancelled {
                    await wakeUp.wait(atMost: .seconds(86_400 * 365), clock: clock)
                    change.yield()
                }
            }
            var failedAt: [ItemID: Duration] = [:]
            var last: ItemID?
            var awaited: PauseEnd?
            for await _ in changes {
                if let end = pause.end, end != awaited {
                    awaited = end
                    group.addTask {
                        await untilOver(end)
                        change.yield()
                    }
                }
                let attempt = await attempt(after: last, sparing: failedAt, bring)
                // What comes before where it began has its turn, too.
                if last != nil, attempt.last == nil { change.yield() }
                last = attempt.last
                // Ends early only when the task is cancelled.
                try? await clock.sleep(Self.rest)
                let now = clock.uptime()
                failedAt = failedAt.filter { now - $0.value < Self.pause }
                guard !attempt.failed.isEmpty else { continue }
                for item in attempt.failed { failedAt[item] = now }
                group.addTask {
                    // Ends early only when the task is cancelled.
                    try? await clock.sleep(Self.pause)
                    change.yield()
                }
            }
            group.cancelAll()
        }
    }

    /// Looks again soon.
    func wake() { wakeUp.raise() }

    /// Returns when a pause is over that ends by itself, or another has taken its place.
    private func untilOver(_ end: PauseEnd) async {
        while case .at(let time) = end, pause.end == end, !Task.isCancelled {
            let left = Duration.nanoseconds(time.nanoseconds - clock.now().nanoseconds)
            // Ends early only when the task is cancelled.
            try? await clock.sleep(max(left, Self.rest))
        }
    }

    /// Brings what is kept on this device only, of what is wanted first: what takes its place at the provider is refused there
    /// until it is here. What does not come now is left to `run`.
    func bringBackups(
        _ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void
    ) async {
        _ = await attempt(isLocalOnly: true, bring)
    }

    private struct Attempt {
        /// What did not come.
        var failed: [ItemID] = []
        /// Where the next one goes on; nil at the end.
        var last: ItemID?
    }

    /// Brings page after page, to the end, or until a provider is not there: its documents are not tried one by one then.
    ///
    /// - Parameters:
    ///   - last: where an earlier one stopped.
    ///   - failedAt: by the machine's uptime.
    private func attempt(
        after last: ItemID? = nil, isLocalOnly: Bool = false, sparing failedAt: [ItemID: Duration] = [:],
        _ bring: @escaping @Sendable (RelativePath, UInt64) async throws(MaterializeError) -> Void
    ) async -> Attempt {
        var attempt = Attempt(last: last)
        while pause.end == nil, !Task.isCancelled,
            // The disk's trouble is told by the rounds; looked at again with the next change.
            let wanted = try? await index.datalessToBring(
                after: attempt.last, limit: Self.page, isLocalOnly: isLocalOnly)
        {
            attempt.last = wanted.last?.entry.id
            if wanted.isEmpty { break }
            let now = clock.uptime()
            let due = wanted.filter { item in
                item.base != nil && failedAt[item.entry.id].map { now - $0 >= Self.pause } ?? true
            }
            let failures = await forEach(due, limit: settings.parallelTransfers) { item -> Failure? in
                do throws(MaterializeError) {
                    try await bring(item.drivePath, item.entry.fingerprint.inode)
                    return nil
                } catch {
                    return Failure(item: item.entry.id, isAway: error.errno == ENETUNREACH)
                }
            }.compactMap(\.self)
            attempt.failed += failures.map(\.item)
            if failures.contains(where: \.isAway) { break }
        }
        return attempt
    }

    private struct Failure {
        var item: ItemID
        /// Its provider is not there.
        var isAway: Bool
    }
}
