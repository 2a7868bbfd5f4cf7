package import QuireCore
import Synchronization

/// How much of what is being brought here has arrived.
package struct DownloadProgress: Sendable, Hashable {
    package var completed: ByteCount
    package var total: ByteCount
}

/// Adds up what arrives of several files, and tells of it in order: never less than before, ten times a second at the most.
final class DownloadSum: Sendable {
    private struct State {
        var arrived: [ItemID: Int64] = [:]
        var sum: Int64 = 0
        /// By the monotonic clock, in nanoseconds.
        var told: Int
    }

    /// Held while `tell` is called, which must not come back here.
    private let state: Lock<State>
    private let tell: @Sendable (DownloadProgress) -> Void
    private let sizes: [ItemID: Int64]
    private let total: Int64

    private static let pause = 100_000_000

    /// - Parameter tell: called with nothing arrived first, then by `note`; must return soon.
    init(_ files: [(item: ItemID, size: Int64)], tell: @escaping @Sendable (DownloadProgress) -> Void) {
        self.tell = tell
        sizes = Dictionary(files.map { ($0.item, $0.size) }, uniquingKeysWith: max)
        total = sizes.values.reduce(0, +)
        state = Lock(State(told: MonotonicClock.now()))
        tell(DownloadProgress(completed: .zero, total: ByteCount(total)))
    }

    /// Notes what has arrived of one file; a transfer that begins anew takes nothing back. Nobody is told where that is
    /// nothing new, or the file is none of these. The end is told at once.
    func note(_ item: ItemID, _ bytes: ByteCount) {
        guard let size = sizes[item] else { return }
        state.withLock { state in
            let (now, before) = (min(bytes.bytes, size), state.arrived[item, default: 0])
            guard now > before else { return }
            state.arrived[item] = now
            state.sum += now - before
            let time = MonotonicClock.now()
            guard state.sum == total || time - state.told >= Self.pause else { return }
            state.told = time
            tell(DownloadProgress(completed: ByteCount(state.sum), total: ByteCount(total)))
        }
    }
}
