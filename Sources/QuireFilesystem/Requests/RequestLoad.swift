import QuireCore
import Synchronization

/// Whether requests come in quick succession.
final class RequestLoad: Sendable {
    /// A time of `CLOCK_MONOTONIC` in nanoseconds.
    private let busyUntil = Atomic<Int>(0)

    /// So many requests on one reader within so long are many: more than a person's clicks and an editor's saves.
    private static let manyRequests = 64
    private static let window = 100_000_000

    /// Whether many requests came in the last tenth of a second. From any thread.
    var isBusy: Bool { MonotonicClock.now() < busyUntil.load(ordering: .relaxed) }

    /// The count of one reader; of its thread alone.
    struct Count {
        fileprivate var requests = 0
        fileprivate var since = 0
    }

    /// A reader has served a request at `time`.
    func served(_ count: inout Count, at time: Int) {
        count.requests += 1
        guard count.requests >= Self.manyRequests else { return }
        if time - count.since < Self.window { busyUntil.store(time + Self.window, ordering: .relaxed) }
        count = Count(requests: 0, since: time)
    }
}
