import QuireCore
import Synchronization

/// Whether what is left of a round is still worth trying: not once the provider turns out to be gone. Whoever is in the
/// middle of a transfer goes on with it.
final class RoundCourse: Sendable {
    private struct State {
        var end: SyncFailure?
        var failures = 0
        var looksAfter = 4
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// Why nothing more is to be tried; nil while it is.
    var end: SyncFailure? { state.withLock { $0.end } }

    /// Nothing more is to be tried.
    func stop(_ failure: SyncFailure) { state.withLock { $0.end = $0.end ?? failure } }

    func succeeded() { state.withLock { $0.failures = 0 } }

    /// Notes a step that the provider refused.
    ///
    /// - Returns: whether so many failed in a row that the provider itself should be looked at: after four, then ever
    ///   more rarely.
    func failed() -> Bool {
        state.withLock { state in
            state.failures += 1
            guard state.failures >= state.looksAfter else { return false }
            (state.failures, state.looksAfter) = (0, state.looksAfter * 4)
            return true
        }
    }
}
