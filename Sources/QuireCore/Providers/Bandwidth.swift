import Glibc
import Synchronization

/// How fast bytes may go in one direction, all transfers of a drive together; and how many have gone.
///
/// Bytes are paid for after they have gone: whoever let some through waits until all before and its own are paid for. Where
/// nothing went for a while, a quarter of a second's worth goes at once. Without a rate nobody waits. All methods may be
/// called from any thread.
package final class Bandwidth: Sendable {
    private struct State {
        /// In bytes a second; nil for as fast as can be.
        var rate: Int64?
        /// When what has gone is paid for.
        var paid = ContinuousClock.now
    }

    private static let burst = Duration.milliseconds(250)
    /// Longest sleep between two looks at the rate, which may change meanwhile.
    private static let nap = Duration.milliseconds(200)
    /// Smaller pieces than this are not worth their calls.
    package static let smallestPiece = 16 << 10

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())
    private let gone = Atomic<Int64>(0)

    /// - Parameter rate: in bytes a second; nil for no limit.
    package init(rate: ByteCount? = nil) { setRate(rate) }

    /// Bytes that have gone since the beginning.
    package var total: Int64 { gone.load(ordering: .relaxed) }

    /// In bytes a second; nil for no limit.
    package var rate: ByteCount? { state.withLock { $0.rate.map { ByteCount($0) } } }

    /// Changes the rate; whoever waits goes on.
    package func setRate(_ rate: ByteCount?) {
        state.withLock { state in
            state.rate = rate.map { max(1, $0.bytes) }
            state.paid = ContinuousClock.now
        }
    }

    /// How many bytes should go at one time: at most `largest`, and less where that would take long.
    package func piece(_ largest: Int) -> Int {
        guard let rate = state.withLock({ $0.rate }) else { return largest }
        return min(largest, max(Self.smallestPiece, Int(clamping: rate / 8)))
    }

    /// Notes bytes that have gone, and waits until the next may; without holding a thread.
    ///
    /// - Throws: at once when the task is cancelled.
    package func pass(_ bytes: Int) async throws(CancellationError) {
        guard let end = charge(bytes) else { return }
        while let nap = napTime(until: end) {
            do { try await Task.sleep(for: nap) } catch { throw CancellationError() }
        }
    }

    /// As `pass`, for a thread that may block; returns early where `isCancelled` becomes true.
    package func passBlocking(_ bytes: Int, isCancelled: () -> Bool) {
        guard let end = charge(bytes) else { return }
        while !isCancelled(), let nap = napTime(until: end) {
            usleep(UInt32(min(nap, .milliseconds(50)) / .microseconds(1)))
        }
    }

    /// Notes bytes that go without waiting; whoever comes next waits for them, too.
    package func note(_ bytes: Int) { _ = charge(bytes) }

    /// - Returns: when these bytes are paid for; nil where nobody waits.
    private func charge(_ bytes: Int) -> ContinuousClock.Instant? {
        gone.add(Int64(bytes), ordering: .relaxed)
        return state.withLock { state in
            guard let rate = state.rate else { return nil }
            state.paid = max(state.paid, ContinuousClock.now - Self.burst) + .seconds(Double(bytes) / Double(rate))
            return state.paid
        }
    }

    /// Nil when it is over, also because the rate has changed.
    private func napTime(until end: ContinuousClock.Instant) -> Duration? {
        let left = end - ContinuousClock.now
        guard left > .zero, state.withLock({ $0.rate != nil && $0.paid >= end }) else { return nil }
        return min(left, Self.nap)
    }
}

/// The two directions of a drive's traffic.
package struct Traffic: Sendable {
    /// To providers.
    package let up: Bandwidth
    /// From providers.
    package let down: Bandwidth

    /// - Parameters: rates in bytes a second; nil for no limit.
    package init(up: ByteCount? = nil, down: ByteCount? = nil) {
        self.up = Bandwidth(rate: up)
        self.down = Bandwidth(rate: down)
    }
}
