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
    private struct State {
        var transfers: [ItemID: Transfer] = [:]
        var watchers: [UInt64: @Sendable (ItemID, ByteCount) -> Void] = [:]
        var nextWatcher: UInt64 = 0
        var observer: (@Sendable (ItemID) -> Void)?
    }

    /// Innermost lock: nothing else is taken while it is held; watchers are called outside.
    private let state = Lock(State())

    package init() {}

    /// All transfers under way.
    package var current: [Transfer] { state.withLock { Array($0.transfers.values) } }

    /// The transfer of one item; nil where there is none.
    package subscript(item: ItemID) -> Transfer? { state.withLock { $0.transfers[item] } }

    /// Has `watcher` called with what has arrived of each item, on any thread, until `unwatch` with what this returns.
    func watch(_ watcher: @escaping @Sendable (ItemID, ByteCount) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = watcher
            return state.nextWatcher
        }
    }

    func unwatch(_ watcher: UInt64) { state.withLock { $0.watchers[watcher] = nil } }

    /// Has `observer` called with each item whose transfer has begun or ended, on any thread; for one observer.
    package func observe(_ observer: @escaping @Sendable (ItemID) -> Void) {
        state.withLock { $0.observer = observer }
    }

    func begin(_ item: ItemID, _ direction: Transfer.Direction, total: ByteCount) {
        let observer = state.withLock { state in
            state.transfers[item] = Transfer(item: item, direction: direction, done: .zero, total: total)
            return state.observer
        }
        observer?(item)
    }

    func progress(_ item: ItemID, _ done: ByteCount) {
        let watchers = state.withLock { state in
            state.transfers[item]?.done = done
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher(item, done) }
    }

    func end(_ item: ItemID) {
        let observer = state.withLock { state in
            state.transfers[item] = nil
            return state.observer
        }
        observer?(item)
    }
}
