import Glibc
import QuireCore
import Synchronization

/// The downloads under way: one for each file, however many wait for it.
final class DownloadRegistry: Sendable {
    typealias Outcome = Result<Void, MaterializeError>

    private struct Entry {
        var task: Task<Void, Never>?
        var waiters: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var nextWaiter: UInt64 = 0
    }

    /// Innermost lock: nothing else is taken while it is held; waiters are resumed outside.
    private let state = Lock(State())
    private let executor: PoolExecutor

    /// - Parameter executor: where downloads run.
    init(executor: PoolExecutor) { self.executor = executor }

    /// Waits for the download of the file with this inode, which `perform` does unless it is under way.
    ///
    /// Cancelling the task ends this wait with EINTR; the download goes on for the others, and for whoever asks next.
    func wait(inode: UInt64, _ perform: @escaping @Sendable () async -> Outcome) async throws(MaterializeError) {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFirst = state.withLock { state in
                    let isFirst = state.entries[inode] == nil
                    state.entries[inode, default: Entry()].waiters[waiter] = continuation
                    return isFirst
                }
                if isFirst { start(inode, perform) }
                if Task.isCancelled { cancel(waiter, inode) }
            }
        } onCancel: {
            cancel(waiter, inode)
        }
        try outcome.get()
    }

    private func start(_ inode: UInt64, _ perform: @escaping @Sendable () async -> Outcome) {
        // Owned by this registry: it outlives the first to ask, as others may wait, and ends with `cancelAll`.
        let task = Task(executorPreference: executor) { [self] in
            let outcome = await perform()
            let waiters = state.withLock { $0.entries.removeValue(forKey: inode)?.waiters ?? [:] }
            for waiter in waiters.values { waiter.resume(returning: outcome) }
        }
        state.withLock { $0.entries[inode]?.task = task }
    }

    private func cancel(_ waiter: UInt64, _ inode: UInt64) {
        let continuation = state.withLock { $0.entries[inode]?.waiters.removeValue(forKey: waiter) }
        continuation?.resume(returning: .failure(MaterializeError(errno: EINTR, message: "interrupted")))
    }

    /// Ends all downloads; their waiters get an error.
    func cancelAll() { for task in state.withLock({ $0.entries.values.compactMap(\.task) }) { task.cancel() } }
}
