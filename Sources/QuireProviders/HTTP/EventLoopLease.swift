import AsyncHTTPClient
import NIOCore
import QuireCore
import Synchronization

/// An event loop of the HTTP client for the length of one request: the one with the fewest.
///
/// A connection stays on its loop. While each loop has as many requests as the others, the loop that a request gets has a
/// connection free for it, and nothing of it goes from thread to thread.
final class EventLoopLease: Sendable {
    private static let all = HTTPClient.defaultEventLoopGroup.makeIterator().map(EventLoopExecutor.init)
    private static let shares = EvenShares(all.count)

    /// Runs tasks on the loop.
    let executor: EventLoopExecutor
    private let place: Int

    var loop: any EventLoop { executor.loop }

    init() {
        place = Self.shares.take()
        executor = Self.all[place]
    }

    deinit { Self.shares.giveBack(place) }
}

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

/// Hands out a few places so that none has more takers than another, as far as they come back.
final class EvenShares: Sendable {
    // Taken alone.
    private let takers: Lock<[Int]>

    /// - Parameter count: of places, one or more.
    init(_ count: Int) { takers = Lock(Array(repeating: 0, count: count)) }

    /// The first of those with the fewest takers.
    func take() -> Int {
        takers.withLock { takers in
            let place = takers.indices.min { takers[$0] < takers[$1] } ?? 0
            takers[place] += 1
            return place
        }
    }

    func giveBack(_ place: Int) { takers.withLock { $0[place] -= 1 } }
}
