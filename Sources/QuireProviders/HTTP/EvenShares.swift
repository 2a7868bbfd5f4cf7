import QuireCore
import Synchronization

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
