import QuireCore
import Synchronization

/// Runs asynchronous work on the thread that waits for it: for the synchronous forms, whose accessors run on the caller's
/// thread and which need no other.
final class CallerExecutor: TaskExecutor, @unchecked Sendable {
    /// Whether the task that asks is run by such an executor.
    @TaskLocal static var isRunning = false

    // Guards the two below.
    private let monitor = ThreadMonitor()
    private var jobs: [UnownedJob] = []
    private var isFinished = false

    private init() {}

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.locked {
            jobs.append(job)
            monitor.signal()
        }
    }

    /// Runs `body` on the calling thread, which blocks meanwhile.
    static func run<Value, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let executor = CallerExecutor()
        return try withoutActuallyEscaping(body) { body throws(Failure) in
            // Used by one thread only: all of the task runs on this one, before `run` returns.
            nonisolated(unsafe) let work = body
            nonisolated(unsafe) var outcome: Result<Value, Failure>?
            _ = Task(executorPreference: executor) {
                await $isRunning.withValue(true) {
                    do throws(Failure) {
                        outcome = .success(try await work())
                    } catch {
                        outcome = .failure(error)
                    }
                }
                executor.finish()
            }
            executor.runJobs()
            guard let outcome else { preconditionFailure("a finished task has an outcome") }
            return try outcome.get()
        }
    }

    private func finish() {
        monitor.locked {
            isFinished = true
            monitor.signal()
        }
    }

    private func runJobs() {
        while let job = monitor.locked({ nextJob() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func nextJob() -> UnownedJob? {
        while jobs.isEmpty {
            if isFinished { return nil }
            monitor.wait()
        }
        return jobs.removeFirst()
    }
}
