import Dispatch
package import QuireCore
import Synchronization

/// Runs blocking work on threads that are not the cooperative pool's, at most `width` pieces at a time, oldest first.
package final class BlockingPool: Sendable {
    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let queue: DispatchQueue
    private let width: Int
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - label: name of the threads' queue.
    ///   - width: 1 or more.
    package init(label: String, width: Int) {
        precondition(width > 0, "a pool has at least one thread")
        self.queue = DispatchQueue(label: label, attributes: .concurrent)
        self.width = width
    }

    /// Runs `body` on a thread of the pool and returns what it returns.
    ///
    /// Cancelling the calling task sets the `Cancellation` that `body` is given; work that has not begun by then never
    /// does.
    /// - Throws: what `body` throws; `.cancelled`.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable (Cancellation) throws(ProviderError) -> Value
    ) async throws(ProviderError) -> Value {
        let cancellation = Cancellation()
        let result: Result<Value, ProviderError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit {
                    continuation.resume(
                        returning: Result { () throws(ProviderError) -> Value in
                            try cancellation.check()
                            return try body(cancellation)
                        })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        let startsNow = state.withLock { state in
            guard state.running < width else {
                state.waiting.append(job)
                return false
            }
            state.running += 1
            return true
        }
        if startsNow { queue.async { self.work(job) } }
    }

    private func work(_ first: @escaping @Sendable () -> Void) {
        var next: (@Sendable () -> Void)? = first
        while let job = next {
            job()
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.running -= 1
                return nil
            }
        }
    }
}
