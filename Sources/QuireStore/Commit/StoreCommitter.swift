import Glibc
package import QuireCore
import Synchronization

/// Makes the sync engine's changes to a store that is not mounted.
///
/// The driver's committer is built the same way around `CompareAndSwap`, and knows open handles itself.
package final class StoreCommitter: LocalTreeCommitter {
    private let tree: DriveTree
    private let sink: any StoreEventSink
    private let openState: @Sendable (_ inode: UInt64) -> OpenState
    /// Serialises changes, and keeps their events in the order of the changes; so it is held across a few system calls
    /// on the local filesystem. A leaf: the sink only queues.
    private let order = Lock(())

    /// - Parameters:
    ///   - sink: gets each change's event before `commit` returns.
    ///   - openState: whether the file of an inode is open; nothing is, where none is given.
    package init(
        tree: DriveTree, sink: any StoreEventSink,
        openState: @escaping @Sendable (_ inode: UInt64) -> OpenState = { _ in .closed }
    ) {
        self.tree = tree
        self.sink = sink
        self.openState = openState
    }

    package func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult {
        let outcome = try order.withLock { _ throws(LocalChangeError) in
            let outcome = try CompareAndSwap.perform(tree, change) { openState($0.inode) }
            if case .done(let committed) = outcome { sink.record(.committed(committed.commit)) }
            return outcome
        }
        if case .done = outcome { try CompareAndSwap.makeDurable(tree, change) }
        return outcome.result
    }

    package func isOpenForWriting(inode: UInt64) -> Bool { openState(inode) == .writing }

    /// At once: nobody caches a bare store.
    package func changesVisible() async {}

    /// Never: it knows of no programs.
    package var isBusy: Bool { false }
}

extension CompareAndSwap {
    /// Fsyncs the directory of a change that brought content; called after the change, outside the lock.
    ///
    /// A directory that is gone meanwhile needs no fsync.
    /// - Throws: the errno of the fsync. The change itself was made: tried again, it is `.stale`.
    package static func makeDurable(_ tree: DriveTree, _ change: LocalChange) throws(LocalChangeError) {
        guard case .install(_, dataless: false) = change.operation, let parent = change.path.parent else { return }
        do {
            try tree.syncDirectory(parent)
        } catch {
            guard error.code != .notFound else { return }
            throw LocalChangeError(errno: error.errno ?? EIO, path: change.path, operation: "fsync the directory of")
        }
    }
}
