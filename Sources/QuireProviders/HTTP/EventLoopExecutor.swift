import AsyncHTTPClient
import NIOCore
import Synchronization

/// Runs a task on one of the HTTP client's event loops: what the loop has for it needs no other thread then.
///
/// For what neither blocks nor computes much: a loop serves many connections.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    private init(_ loop: any EventLoop) { self.loop = loop }

    private static let all = HTTPClient.defaultEventLoopGroup.makeIterator().map(EventLoopExecutor.init)
    private static let turn = Atomic(0)

    /// The loops take turns.
    static var next: EventLoopExecutor {
        all[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % all.count]
    }

    /// As `TaskExecutor` asks.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        loop.execute { job.runSynchronously(on: executor) }
    }
}
