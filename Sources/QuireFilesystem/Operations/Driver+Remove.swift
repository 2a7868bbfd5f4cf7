import CFuse
import Glibc
import QuireCoordination
import QuireCore

extension Driver {
    /// UNLINK and RMDIR.
    ///
    /// - Parameter passes: see `coordinated`.
    func remove(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, isDirectory: Bool, passes: Bool = true
    ) {
        if isOwn(reply) {
            return perform(reply, .remove(Entry(directory: directory, name: name), isDirectory: isDirectory))
        }
        if isContainerRoot(directory, name) { return reply.error(EBUSY) }
        if mustAskCoordinator {
            let accesses = accesses(writing: name, in: directory, .deleting)
            let restart = Restart(directories: [directory], last: .present)
            coordinated(reply, accesses, passes: passes, restart: restart) { driver, reply, claim in
                driver.staleAnswers.settle(reply.caller.pid)
                driver.performRemove(reply, directory, name, isDirectory: isDirectory, claim, hasAsked: true)
            }
        } else {
            performRemove(reply, directory, name, isDirectory: isDirectory, nil, hasAsked: false)
        }
    }

    private func performRemove(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, isDirectory: Bool, _ claim: HeldClaim?,
        hasAsked: Bool
    ) {
        let thread = reply.caller.pid
        let entry = Entry(directory: directory, name: name)
        var mustAsk = false
        let done = Result { () throws(DriverError) -> UntoldChange? in
            try gate.shared { () throws(DriverError) -> UntoldChange? in
                mustAsk = hasAsked ? isStale(claim?.pass) : mustAskCoordinator
                if mustAsk { return .nothing }
                let parent = try resolver.directory(directory)
                var status = try StoreCall.status(in: parent, name)
                guard let missed = try keepMissed(entry, &status, in: parent, claim, by: thread) else { return nil }
                let isLast = status.st_nlink <= 1 || isDirectory
                let kept = keepReach(to: status, in: parent, name, otherNamesRemain: !isLast)
                try StoreCall.check(
                    name.withCString { unlinkat(parent.raw, $0, isDirectory ? AT_REMOVEDIR : 0) })
                contentsChanged(directory)
                detach(status.inode, from: directory, name, wasLast: isLast, kept: kept)
                record(.removed(parent: directoryInode(directory), name: name, inode: status.inode))
                if !isLast, let kept, let status = try? StoreCall.status(of: kept) { reportLinkCount(status) }
                return missed
            }
        }
        // An app came between.
        if mustAsk { return remove(reply, directory, name, isDirectory: isDirectory, passes: false) }
        switch done {
        case .success(let missed?):
            settle(missed + enterDisappearance(name, in: directory, claim, thread), claim, in: directory)
            reply.error(0)
        case .success(nil):
            fetch(entry, for: reply) { driver, reply in
                driver.performRemove(reply, directory, name, isDirectory: isDirectory, claim, hasAsked: hasAsked)
            }
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// A descriptor for a file that is about to lose a name, where it will be needed: the kernel still holds the file, or
    /// its other names have a new link count and ctime.
    func keepReach(to status: stat, in directory: Descriptor, _ name: FileName, otherNamesRemain: Bool) -> Descriptor? {
        let isHeld = table.locked { state in
            guard let node = state.byInode[status.inode] else { return false }
            return node.lookups > 0 && !node.isOpen
        }
        guard isHeld || otherNamesRemain else { return nil }
        let raw = name.withCString { openat(directory.raw, $0, O_PATH | O_NOFOLLOW | O_CLOEXEC) }
        // Out of descriptors: the removal goes on; only the rare use of a nameless file by the kernel gets ESTALE.
        return raw >= 0 ? Descriptor(owning: raw) : nil
    }

    /// A name of `inode` is gone.
    func detach(_ inode: UInt64, from directory: Node, _ name: FileName, wasLast: Bool, kept: Descriptor?) {
        // What it lets go of is closed after the lock.
        var dropped: Descriptor?
        table.locked { state in
            guard let node = state.byInode[inode] else { return }
            node.removeName(Entry(directory: directory, name: name))
            guard wasLast else { return }
            node.removeNames()
            state.byInode[inode] = nil
            if node.descriptor != nil { state.cachedDirectories.removeAll { $0 === node } }
            dropped = node.descriptor
            node.descriptor = nil
            if node.lookups > 0, !node.isOpen, let kept { node.makeDetails().orphan = kept }
        }
        _ = dropped
    }

    /// Something in `directory` has changed: call before the answer.
    ///
    /// The kernel forgets the directory's attributes when it gets the answer. But another program may have asked for them
    /// before the change, and what it was told would be kept if it looks at it after that. The kernel drops such late
    /// answers once it was told of a change.
    func contentsChanged(_ directory: Node) {
        if table.changed(directory) { notifier.attributesChanged(table.identifier(directory)) }
    }

    /// A file's link count and ctime changed, its content did not.
    func reportLinkCount(_ status: stat) {
        guard status.st_nlink > 0, status.st_mode & S_IFMT != S_IFDIR else { return }
        table.locked { state in
            let writersOpen = (state.byInode[status.inode]?.writers ?? 0) > 0
            record(.attributesChanged(FileStatus(status), writersOpen: writersOpen))
        }
    }
}
