import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore

extension Driver {
    /// RENAME, with all flags of quire_renameat2(2) that the store's file system knows.
    func rename(_ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt) {
        if isContainerRoot(source.directory, source.name) || isContainerRoot(target.directory, target.name) {
            return reply.error(EBUSY)
        }
        if mustAskCoordinator {
            let accesses = accesses(moving: source, to: target)
            coordinated(reply, accesses) { driver, reply, _ in driver.performRename(reply, source, target, flags) }
        } else {
            performRename(reply, source, target, flags)
        }
    }

    private func performRename(_ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt) {
        let done = Result { () throws(DriverError) -> Void in
            try gate.shared { () throws(DriverError) -> Void in try move(source, target, flags) }
        }
        answer(reply, done)
    }

    private func move(_ source: Entry, _ target: Entry, _ flags: CUnsignedInt) throws(DriverError) {
        let from = try resolver.directory(source.directory)
        let to = try resolver.directory(target.directory)
        let moved = try StoreCall.status(in: from, source.name)
        let present = try StoreCall.statusIfAny(in: to, target.name)
        let exchanges = flags & Self.exchange != 0
        let replaced = exchanges ? nil : present
        let replacedIsLast = replaced.map { $0.st_nlink <= 1 || $0.st_mode & S_IFMT == S_IFDIR } ?? false
        let kept = replaced.flatMap { keepReach(to: $0, in: to, target.name, otherNamesRemain: !replacedIsLast) }

        let result = source.name.withCString { old in
            target.name.withCString { new in quire_renameat2(from.raw, old, to.raw, new, flags) }
        }
        try StoreCall.check(result)
        // Two names of one file: POSIX says that nothing happens.
        if let present, present.inode == moved.inode { return }

        if let replaced {
            detach(replaced.inode, from: target.directory, target.name, wasLast: replacedIsLast, kept: kept)
        }
        let writersOpen = table.locked { state in
            let writers = state.byInode[moved.inode]?.writers ?? 0
            Self.reattach(state.byInode[moved.inode], from: source, to: target)
            if exchanges, let present { Self.reattach(state.byInode[present.inode], from: target, to: source) }
            return writers > 0
        }
        let now = try StoreCall.status(in: to, target.name)
        let exchanged = exchanges ? try StoreCall.status(in: from, source.name) : nil
        record(
            .renamed(
                .init(
                    fromParent: directoryInode(source.directory), fromName: source.name,
                    toParent: directoryInode(target.directory), toName: target.name, status: FileStatus(now),
                    replaced: replaced?.inode, exchanged: exchanged.map { FileStatus($0) }, writersOpen: writersOpen)))
        // A rename changes the ctime that a file's other names show as well.
        for status in [now, exchanged].compactMap(\.self) where status.st_nlink > 1 { reportLinkCount(status) }
        if !replacedIsLast, let kept, let status = try? StoreCall.status(of: kept) { reportLinkCount(status) }
        if mustAskCoordinator, let old = table.path(of: source.name, in: source.directory),
            let new = table.path(of: target.name, in: target.directory)
        {
            if exchanges {
                services.coordinator.noteExchange(old, new)
            } else {
                services.coordinator.noteMove(from: old, to: new)
            }
        }
    }

    // RENAME_EXCHANGE of <linux/fs.h>.
    private static let exchange: CUnsignedInt = 2

    /// With the table locked: the node that was at one end is at the other.
    static func reattach(_ node: Node?, from source: Entry, to target: Entry) {
        guard let node else { return }
        node.names.removeAll { $0 == source }
        node.names.insert(target, at: 0)
    }
}
