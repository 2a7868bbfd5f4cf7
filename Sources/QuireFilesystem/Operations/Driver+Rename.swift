import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore
import QuireStore
import Synchronization

extension Driver {
    /// RENAME, with all flags of quire_renameat2(2) that the store's file system knows.
    func rename(_ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt) {
        if isContainerRoot(source.directory, source.name) || isContainerRoot(target.directory, target.name) {
            return reply.error(EBUSY)
        }
        if container(of: source) != container(of: target) {
            // What is below may have to be looked at first.
            return parking.offload(reply) { [self] reply in renameAcrossContainers(reply, source, target, flags) }
        }
        renameInOrder(reply, source, target, flags)
    }

    /// From one container to another: for their providers that is an upload and a deletion, so all content must be here.
    /// Where some is not, EXDEV: `mv` then copies, which brings it here, and removes.
    private func renameAcrossContainers(
        _ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt
    ) {
        let isWhole = Result { () throws(DriverError) -> Bool in
            let found = try hasDataless(try resolver.directory(source.directory), source.name)
            guard flags & Self.exchange != 0, !found else { return !found }
            return try !hasDataless(try resolver.directory(target.directory), target.name)
        }
        switch isWhole {
        case .success(true): renameInOrder(reply, source, target, flags)
        case .success(false): reply.error(EXDEV)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// The top-level directory that is the container an entry lies in; nil for the default container.
    private func container(of entry: Entry) -> FileName? {
        guard let top = table.path(of: entry.directory)?.components.first else { return nil }
        return containerRoots.withLock { $0.contains(top) } ? top : nil
    }

    /// Whether the content of an entry, or of anything below it, is not here.
    private func hasDataless(_ directory: Descriptor, _ name: FileName) throws(DriverError) -> Bool {
        let status = try StoreCall.status(in: directory, name)
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            guard Placeholder.isCandidate(FileStatus(status)) else { return false }
            let raw = name.withCString { openat(directory.raw, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
            guard raw >= 0 else { throw DriverError.last() }
            return isDataless(Descriptor(owning: raw), status)
        case S_IFDIR:
            let raw = name.withCString { openat(directory.raw, $0, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC) }
            guard raw >= 0 else { throw DriverError.last() }
            let below = Descriptor(owning: raw)
            for child in try StoreCall.names(in: below) where try hasDataless(below, child) { return true }
            return false
        default: return false
        }
    }

    private func renameInOrder(_ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt) {
        if mustAskCoordinator {
            let isSave = flags & Self.exchange == 0 && isSafeSave(source, target)
            let accesses = accesses(moving: source, to: target, isSave: isSave)
            coordinated(reply, accesses) { driver, reply, claim in
                driver.performRename(reply, source, target, flags, isSave: isSave)
                withExtendedLifetime(claim) {}
            }
        } else {
            performRename(reply, source, target, flags, isSave: false)
        }
    }

    private func performRename(
        _ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt, isSave: Bool
    ) {
        let thread = reply.caller.pid
        let done = Result { () throws(DriverError) -> Void in
            try gate.shared { () throws(DriverError) -> Void in
                try move(source, target, flags)
                tellMove(source, target, exchanges: flags & Self.exchange != 0, isSave: isSave, thread)
            }
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
        contentsChanged(source.directory)
        if source.directory !== target.directory { contentsChanged(target.directory) }

        if let replaced {
            detach(replaced.inode, from: target.directory, target.name, wasLast: replacedIsLast, kept: kept)
        }
        let now = try StoreCall.status(in: to, target.name)
        let exchanged = exchanges ? try StoreCall.status(in: from, source.name) : nil
        table.locked { state in
            let writersOpen = (state.byInode[moved.inode]?.writers ?? 0) > 0
            Self.reattach(state.byInode[moved.inode], from: source, to: target)
            if exchanges, let present { Self.reattach(state.byInode[present.inode], from: target, to: source) }
            record(
                .renamed(
                    .init(
                        fromParent: source.directory.inode, fromName: source.name,
                        toParent: target.directory.inode, toName: target.name, status: FileStatus(now),
                        replaced: replaced?.inode, exchanged: exchanged.map { FileStatus($0) },
                        writersOpen: writersOpen)))
        }
        // A rename changes the ctime that a file's other names show as well.
        for status in [now, exchanged].compactMap(\.self) where status.st_nlink > 1 { reportLinkCount(status) }
        if !replacedIsLast, let kept, let status = try? StoreCall.status(of: kept) { reportLinkCount(status) }
    }

    // RENAME_EXCHANGE of <linux/fs.h>.
    private static let exchange: CUnsignedInt = 2

    /// With the table locked: the node that was at one end is at the other.
    static func reattach(_ node: Node?, from source: Entry, to target: Entry) {
        guard let node else { return }
        node.removeName(source)
        node.addName(target)
    }
}
