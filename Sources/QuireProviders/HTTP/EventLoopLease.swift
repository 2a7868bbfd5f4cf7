import AsyncHTTPClient
import NIOCore
import QuireCore
import Synchronization

/// An event loop of the HTTP client for the length of one request: the one with the fewest.
///
/// A connection stays on its loop. While each loop has as many requests as the others, the loop that a request gets has a
/// connection free for it, and nothing of it goes from thread to thread.
final class EventLoopLease: Sendable {
    private static let all = Array(HTTPClient.defaultEventLoopGroup.makeIterator())
    private static let shares = EvenShares(all.count)

    let loop: any EventLoop
    private let place: Int

    init() {
        place = Self.shares.take()
        loop = Self.all[place]
    }

    deinit { Self.shares.giveBack(place) }
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
