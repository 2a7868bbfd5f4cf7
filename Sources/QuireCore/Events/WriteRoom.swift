import Synchronization

/// How many bytes programs may still add to the drive: the driver takes of it before it lets a file grow, whoever knows the
/// limits sets it. Without a limit nothing is counted.
///
/// There are two numbers: what may be taken at once, and what may be taken when everything is evicted that can be. Who finds
/// too little of the first has it looked for by `lookAgain`. What counts is the size of files: overwriting takes nothing.
/// All methods may be called from any thread; none but `lookAgain` waits.
package final class WriteRoom: Sendable {
    private struct State {
        var now = Int.max
        var atMost = Int.max
        var taken = 0
        var whole: Int?
        var lookAgain: (@Sendable (Int) async -> Void)?

        mutating func take(_ bytes: Int) {
            now = now.subtractingClamped(bytes)
            atMost = atMost.subtractingClamped(bytes)
            // Only what is added between two looks counts.
            taken &+= bytes
        }
    }

    private let limited = Atomic<Bool>(false)
    private let near = Atomic<Bool>(false)
    private let provider = Atomic<Int>(.max)
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    package init() {}

    /// With less than this left at the most, each write has to pass the driver.
    package static let plenty = 1 << 30

    /// Whether there is a limit at all; one atomic load.
    package var isLimited: Bool { limited.load(ordering: .relaxed) }

    /// Whether there is a limit that is near, whatever is evicted.
    package var isNear: Bool { near.load(ordering: .relaxed) }

    /// Whether nothing may be added any more, whatever is evicted.
    package var isFull: Bool { isNear && state.withLock { $0.atMost <= 0 } }

    /// What was taken since the beginning, in bytes: for `set`.
    package var taken: Int { state.withLock { $0.taken } }

    /// What is left at the most, and of how much, in bytes; nil without a limit. The second is nil where only the file system's
    /// room counts.
    package var report: (left: Int, whole: Int?)? {
        guard isLimited else { return nil }
        return state.withLock { (max(0, $0.atMost), $0.whole) }
    }

    /// What the provider of the drive's root has left, in bytes, less what waits to be sent; nil where it does not say, or has
    /// more than the store's file system. For statfs: it refuses nothing.
    package var providerLeft: Int? {
        let left = provider.load(ordering: .relaxed)
        return left == .max ? nil : left
    }

    /// Says what `providerLeft` is from now on.
    package func setProviderLeft(_ bytes: Int?) { provider.store(bytes ?? .max, ordering: .relaxed) }

    /// Takes room for a file that grows.
    ///
    /// - Parameter bytes: by how much; 0 and less takes nothing.
    /// - Returns: false, with nothing taken, where there is not that much now.
    package func take(_ bytes: Int) -> Bool {
        guard isLimited, bytes > 0 else { return true }
        let (isThere, atMost) = state.withLock { state in
            guard state.now >= bytes else { return (false, state.atMost) }
            state.take(bytes)
            return (true, state.atMost)
        }
        note(atMost)
        return isThere
    }

    /// Takes room for what is done already, or cannot be refused any more.
    package func takeRegardless(_ bytes: Int) {
        guard isLimited, bytes > 0 else { return }
        let atMost = state.withLock { state in
            state.take(bytes)
            return state.atMost
        }
        note(atMost)
    }

    /// Says how much is left.
    ///
    /// - Parameters:
    ///   - now: what may be taken at once, in bytes; may be negative.
    ///   - atMost: the same when everything is evicted that can be.
    ///   - whole: how much there is altogether; nil where no number is known.
    ///   - taken: what `taken` was before that was found out: what was taken since then counts on top.
    package func set(now: Int, atMost: Int, of whole: Int?, asOf taken: Int) {
        let left = state.withLock { state in
            let since = state.taken &- taken
            state.now = now.subtractingClamped(since)
            state.atMost = atMost.subtractingClamped(since)
            state.whole = whole
            return state.atMost
        }
        limited.store(true, ordering: .relaxed)
        note(left)
    }

    /// Whom `lookAgain` asks to find out anew how much is left, and to make room for so many bytes where that is possible.
    package func whenShort(_ look: (@Sendable (Int) async -> Void)?) { state.withLock { $0.lookAgain = look } }

    /// Returns when what is left was found out anew, and room was made where that is possible.
    ///
    /// - Parameter bytes: what somebody wants to take.
    package func lookAgain(for bytes: Int) async { await state.withLock { $0.lookAgain }?(bytes) }

    private func note(_ atMost: Int) { near.store(atMost < Self.plenty, ordering: .relaxed) }
}
