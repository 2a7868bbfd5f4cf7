package import QuireCore
import Synchronization

/// One upload or download under way.
package struct Transfer: Sendable, Hashable {
    package enum Direction: String, Sendable {
        case upload, download
    }

    package var item: ItemID
    package var direction: Direction
    package var done: ByteCount
    package var total: ByteCount
}

/// What is being transferred now, for states and progress; readable from any thread.
package final class TransferBoard: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let transfers = Lock<[ItemID: Transfer]>([:])

    package init() {}

    /// All transfers under way.
    package var current: [Transfer] { transfers.withLock { Array($0.values) } }

    /// The transfer of one item; nil where there is none.
    package subscript(item: ItemID) -> Transfer? { transfers.withLock { $0[item] } }

    func begin(_ item: ItemID, _ direction: Transfer.Direction, total: ByteCount) {
        transfers.withLock { $0[item] = Transfer(item: item, direction: direction, done: .zero, total: total) }
    }

    func progress(_ item: ItemID, _ done: ByteCount) { transfers.withLock { $0[item]?.done = done } }

    func end(_ item: ItemID) { _ = transfers.withLock { $0.removeValue(forKey: item) } }
}
