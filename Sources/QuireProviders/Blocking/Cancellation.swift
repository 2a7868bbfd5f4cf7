package import QuireCore
import Synchronization

/// Carries a task's cancellation to the thread that works for it.
package final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    package init() {}

    /// Whether the task was cancelled.
    package var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Tells the worker to stop at its next look.
    package func cancel() { flag.store(true, ordering: .relaxed) }

    /// Throws `.cancelled` once the task was cancelled.
    package func check() throws(ProviderError) {
        if isCancelled { throw ProviderError(.cancelled, "the operation was cancelled") }
    }
}
