import QuireCore
import Synchronization

/// A move at the provider that was asked for, and whose answer did not come.
struct OpenMove: Sendable, Hashable {
    /// What was moved here.
    var item: ItemID?
    var from: RelativePath
    var to: RelativePath
    /// Of what is moved, as it was at `from`.
    var base: BaseRecord
    /// When it was asked for.
    var since: FileTime
}

/// The moves whose fate is not known. In memory: after a crash they are found out by what lies where, and by `MoveNotes`.
final class OpenMoves: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let moves = Lock<[OpenMove]>([])

    /// The oldest first.
    var all: [OpenMove] { moves.withLock { $0 } }

    func insert(_ move: OpenMove) {
        moves.withLock { moves in
            moves.removeAll { $0.from == move.from }
            moves.append(move)
        }
    }

    func remove(_ move: OpenMove) { moves.withLock { moves in moves.removeAll { $0 == move } } }
}
