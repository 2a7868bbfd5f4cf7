import AsyncHTTPClient
import NIOCore

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
