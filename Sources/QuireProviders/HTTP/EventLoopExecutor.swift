import NIOCore

/// Runs a task on an event loop: what the loop has for it needs no other thread then.
///
/// For what neither blocks nor computes much: a loop serves many connections.
final class EventLoopExecutor: TaskExecutor {
    let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    /// As `TaskExecutor` asks.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        loop.execute { job.runSynchronously(on: executor) }
    }
}
