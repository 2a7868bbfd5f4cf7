/// Runs tasks on threads that give way to the rest of the process: for long computations that nobody waits for.
///
///     await withTaskExecutorPreference(BackgroundExecutor.shared) { await engine.run() }
package final class BackgroundExecutor: TaskExecutor {
    /// The process's one.
    package static let shared = BackgroundExecutor()

    private let pool = BackgroundPool(label: "quire-background", width: 2)

    private init() {}

    /// As `TaskExecutor` asks.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        pool.submit { job.runSynchronously(on: executor) }
    }
}
