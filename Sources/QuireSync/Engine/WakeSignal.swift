import QuireCore
import Synchronization

/// Wakes one waiter; a signal raised while nobody waits is kept for the next.
package final class WakeSignal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// Innermost lock: nothing else is taken while it is held; the waiter is resumed outside.
    private let state = Lock(State())

    package init() {}

    /// Wakes the waiter, or the next one.
    package func raise() {
        let waiter = state.withLock { state in
            state.isRaised = state.waiter == nil
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until raised, until `timeout` has passed, or until the task is cancelled. One waiter at a time.
    package func wait(atMost timeout: Duration, clock: SyncClock) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Cancelled or over: in both cases waiting ends.
                try? await clock.sleep(timeout)
                self.raise()
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        if state.isRaised {
                            state.isRaised = false
                            return true
                        }
                        precondition(state.waiter == nil, "one waiter at a time")
                        state.waiter = continuation
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                self.raise()
            }
            group.cancelAll()
            await group.waitForAll()
        }
        state.withLock { $0.isRaised = false }
    }
}
