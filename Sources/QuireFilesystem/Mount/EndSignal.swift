import QuireCore
import Synchronization

/// An event that happens once; any number of tasks wait for it.
final class EndSignal: Sendable {
    private struct State {
        var happened = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    /// It happens; waiters go on.
    func signal() {
        let waiters = state.withLock { state in
            state.happened = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once it has happened.
    func wait() async {
        await withCheckedContinuation { continuation in
            let already = state.withLock { state in
                if !state.happened { state.waiters.append(continuation) }
                return state.happened
            }
            if already { continuation.resume() }
        }
    }
}
