import QuireCore
import Synchronization

/// Holds calls up until a test opens it; nobody sleeps.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrived = 0
        var held: [Int: CheckedContinuation<Void, Never>] = [:]
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// Innermost lock; continuations are resumed after it is let go.
    private let state = Lock(State())

    package init() {}

    /// Lets everybody through, now and later.
    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [:] }
            return state.held.values.map { $0 }
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns once `count` calls in all have arrived at the gate.
    package func waitForArrivals(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until the gate is open, or the task is cancelled.
    package func pass() async {
        let ticket = state.withLock { state in
            state.arrived += 1
            return state.arrived
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (passes, watchers) = state.withLock { state in
                    let ready = state.watchers.filter { $0.count <= state.arrived }
                    state.watchers.removeAll { $0.count <= state.arrived }
                    let passes = state.isOpen || Task.isCancelled
                    if !passes { state.held[ticket] = continuation }
                    return (passes, ready)
                }
                for watcher in watchers { watcher.continuation.resume() }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.held.removeValue(forKey: ticket) }?.resume()
        }
    }
}
