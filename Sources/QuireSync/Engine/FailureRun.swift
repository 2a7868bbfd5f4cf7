import QuireCore
import Synchronization

/// How many steps the provider refused in a row, over rounds: while programs write, rounds are short.
final class FailureRun: Sendable {
    private struct State {
        var failures = 0
        var looksAfter = FailureRun.first
    }

    private static let first = 4

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// A step was taken.
    func end() { state.withLock { $0 = State() } }

    /// Notes a step that the provider refused.
    ///
    /// - Returns: whether so many failed in a row that the provider itself should be looked at: after four, then ever
    ///   more rarely.
    func note() -> Bool {
        state.withLock { state in
            state.failures += 1
            guard state.failures >= state.looksAfter else { return false }
            (state.failures, state.looksAfter) = (0, state.looksAfter * 4)
            return true
        }
    }
}
