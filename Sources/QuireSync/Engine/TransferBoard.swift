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

/// How much was transferred.
package struct TransferSum: Sendable, Hashable {
    package var files = 0
    package var bytes: Int64 = 0
    /// Of these, those that went up.
    package var uploaded: Int64 = 0

    func since(_ before: TransferSum) -> TransferSum {
        TransferSum(
            files: files - before.files, bytes: bytes - before.bytes, uploaded: uploaded - before.uploaded)
    }
}

/// What is being transferred now, for states and progress; readable from any thread.
package final class TransferBoard: Sendable {
    private struct State {
        var transfers: [ItemID: Transfer] = [:]
        var watchers: [UInt64: @Sendable (ItemID, ByteCount) -> Void] = [:]
        var nextWatcher: UInt64 = 0
        var finished = TransferSum()
        var observer: (@Sendable (ItemID) -> Void)?
    }

    /// Innermost lock: nothing else is taken while it is held; watchers are called outside.
    private let state = Lock(State())

    package init() {}

    /// All that arrived since the beginning.
    package var finished: TransferSum { state.withLock { $0.finished } }

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

    /// - Parameter arrived: whole, and not given up.
    func end(_ item: ItemID, arrived: Bool) {
        let observer = state.withLock { state in
            if let transfer = state.transfers.removeValue(forKey: item), arrived {
                state.finished.files += 1
                state.finished.bytes += transfer.total.bytes
                if transfer.direction == .upload { state.finished.uploaded += transfer.total.bytes }
            }
            return state.observer
        }
        observer?(item)
    }
}
