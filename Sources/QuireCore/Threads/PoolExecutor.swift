/// Runs tasks on a few threads of its own, where they may block.
///
///     await withTaskExecutorPreference(PoolExecutor.background) { await reader.run() }
package final class PoolExecutor: TaskExecutor {
    /// For long computations that nobody waits for: gives way to the rest of the process.
    package static let background = PoolExecutor(label: "quire-background", width: 2)

    private let pool: BackgroundPool

    /// As `BackgroundPool`.
    package init(label: String, width: Int, niceness: Int = 5, threadsGoOn: Bool = false) {
        pool = BackgroundPool(label: label, width: width, niceness: niceness, threadsGoOn: threadsGoOn)
    }

    /// As `TaskExecutor` asks.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        pool.submit { job.runSynchronously(on: executor) }
    }

    /// As `BackgroundPool`.
    package func submit(_ job: @escaping @Sendable () -> Void) { pool.submit(job) }

    /// Runs `body` on one of the threads and returns what it returns; in place where the task prefers this executor. It runs
    /// to its end, whatever becomes of the task.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let isHere = withUnsafeCurrentTask { $0?.unownedTaskExecutor == asUnownedTaskExecutor() }
        return isHere ? try body() : try await pool.run(body)
    }
}
