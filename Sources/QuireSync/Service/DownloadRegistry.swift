import Glibc
import QuireCore
import Synchronization

/// The downloads under way: one for each file, however many wait for it.
final class DownloadRegistry: Sendable {
    typealias Outcome = Result<Void, MaterializeError>

    /// The number of a file that is gone is given to another, which is another item.
    struct Subject: Hashable {
        var inode: UInt64
        /// Nil where the index does not know it.
        var item: ItemID?
    }

    private struct Entry {
        var task: Task<Void, Never>?
        var waiters: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
    }

    private struct State {
        var entries: [Subject: Entry] = [:]
        var nextWaiter: UInt64 = 0
    }

    /// Innermost lock: nothing else is taken while it is held; waiters are resumed outside.
    private let state = Lock(State())
    private let executor: PoolExecutor

    /// - Parameter executor: where downloads run.
    init(executor: PoolExecutor) { self.executor = executor }

    /// Waits for the download of a file, which `perform` does unless it is under way.
    ///
    /// Cancelling the task ends this wait with EINTR; the download goes on for the others, and for whoever asks next.
    func wait(
        for subject: Subject, _ perform: @escaping @Sendable () async -> Outcome
    ) async throws(MaterializeError) {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFirst = state.withLock { state in
                    let isFirst = state.entries[subject] == nil
                    state.entries[subject, default: Entry()].waiters[waiter] = continuation
                    return isFirst
                }
                if isFirst { start(subject, perform) }
                if Task.isCancelled { cancel(waiter, subject) }
            }
        } onCancel: {
            cancel(waiter, subject)
        }
        try outcome.get()
    }

    private func start(_ subject: Subject, _ perform: @escaping @Sendable () async -> Outcome) {
        // Owned by this registry: it outlives the first to ask, as others may wait, and ends with `cancelAll`.
        let task = Task(executorPreference: executor) { [self] in
            let outcome = await perform()
            let waiters = state.withLock { $0.entries.removeValue(forKey: subject)?.waiters ?? [:] }
            for waiter in waiters.values { waiter.resume(returning: outcome) }
        }
        state.withLock { $0.entries[subject]?.task = task }
    }

    private func cancel(_ waiter: UInt64, _ subject: Subject) {
        let continuation = state.withLock { $0.entries[subject]?.waiters.removeValue(forKey: waiter) }
        continuation?.resume(returning: .failure(MaterializeError(errno: EINTR, message: "interrupted")))
    }

    /// Ends all downloads; their waiters get an error.
    func cancelAll() { for task in state.withLock({ $0.entries.values.compactMap(\.task) }) { task.cancel() } }
}
