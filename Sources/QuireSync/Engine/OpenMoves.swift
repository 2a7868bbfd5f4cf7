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
    /// For how long a server may go on with what it was sent after the connection was lost.
    static let longestDelay: Duration = .seconds(3600)

    private struct State {
        var moves: [OpenMove] = []
        /// See `setAside`, by the former places.
        var aside: [RelativePath: OpenMove] = [:]
        /// See `reopen`, by the new places.
        var reopened: [RelativePath: FileTime] = [:]
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// The oldest first.
    var all: [OpenMove] { state.withLock { $0.moves } }

    func insert(_ move: OpenMove) { state.withLock { Self.insert(move, &$0) } }

    /// The same of one that was written down: it counts from when that was first read.
    func reopen(_ move: OpenMove) {
        state.withLock { state in
            var move = move
            move.since = state.reopened[move.to] ?? move.since
            state.reopened[move.to] = move.since
            Self.insert(move, &state)
        }
    }

    private static func insert(_ move: OpenMove, _ state: inout State) {
        state.moves.removeAll { $0.from == move.from }
        state.moves.append(move)
    }

    /// A move that did not happen so far. Its server may do it yet: asked for once more when the same is refused then.
    func setAside(_ move: OpenMove) { state.withLock { $0.aside[move.from] = move } }

    /// A move is refused: whether the same was asked for not long ago, and may be what is in its way. It is open again then.
    func reopenAside(from: RelativePath, to: RelativePath, now: FileTime) -> Bool {
        state.withLock { state in
            guard let move = state.aside.removeValue(forKey: from), move.to == to,
                (.zero..<Self.longestDelay).contains(now.since(move.since))
            else { return false }
            Self.insert(move, &state)
            return true
        }
    }

    /// What was at `from` has been moved or deleted since, and that was answered.
    func settle(_ from: RelativePath) {
        state.withLock { state in
            state.moves.removeAll { $0.from == from }
            state.aside[from] = nil
        }
    }

    func remove(_ move: OpenMove) { state.withLock { state in state.moves.removeAll { $0 == move } } }

    /// All is found out.
    func forgetReopened() { state.withLock { $0.reopened = [:] } }
}
