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
        if isOwn(reply) { return perform(reply, .rename(source, target)) }
        if isContainerRoot(source.directory, source.name) || isContainerRoot(target.directory, target.name) {
            return reply.error(EBUSY)
        }
        if source.directory !== target.directory, container(of: source) != container(of: target) {
            // What is below may have to be looked at first.
            return parking.offload(reply) { [self] reply in renameAcrossContainers(reply, source, target, flags) }
        }
        if leavesProvider(source, to: target) || flags & Self.exchange != 0 && leavesProvider(target, to: source) {
            return parking.offload(reply) { [self] reply in renameWhole(reply, source, target, flags) }
        }
        renameInOrder(reply, source, target, flags)
    }

    /// The top-level directory that is the container an entry lies in; nil for the default container.
    private func container(of entry: Entry) -> FileName? {
        guard containerRoots.withLock({ !$0.isEmpty }),
            let top = table.path(of: entry.directory)?.components.first
        else { return nil }
        return containerRoots.withLock { $0.contains(top) } ? top : nil
    }

    /// - Parameter passes: see `coordinated`.
    func renameInOrder(
        _ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt, passes: Bool = true
    ) {
        if mustAskCoordinator {
            let isSave = flags & Self.exchange == 0 ? isSafeSave(source, target) : isSafeExchange(source, target)
            let accesses = accesses(moving: source, to: target, isSave: isSave)
            let restart = Restart(
                directories: [source.directory, target.directory], last: .made(target.name, .replaces))
            coordinated(reply, accesses, passes: passes, restart: restart) { driver, reply, claim in
                driver.staleAnswers.settle(reply.caller.pid)
                driver.performRename(reply, source, target, flags, isSave: isSave, claim, hasAsked: true)
            }
        } else {
            performRename(reply, source, target, flags, isSave: false, nil, hasAsked: false)
        }
    }

    private func performRename(
        _ reply: consuming Reply, _ source: Entry, _ target: Entry, _ flags: CUnsignedInt, isSave: Bool,
        _ claim: HeldClaim?, hasAsked: Bool
    ) {
        let thread = reply.caller.pid
        var mustAsk = false
        var absent = target
        let exchanges = flags & Self.exchange != 0
        let done = Result { () throws(DriverError) -> UntoldChange? in
            try gate.shared { () throws(DriverError) -> UntoldChange? in
                mustAsk = hasAsked ? isStale(claim?.pass) : mustAskCoordinator
                if mustAsk { return .nothing }
                var kept = UntoldChange.nothing
                for entry in exchanges ? [] : Self.takenAway(source, target) {
                    absent = entry
                    guard let more = try keepMissed(entry, claim, by: thread) else { return nil }
                    kept = kept + more
                }
                let moved = try move(source, target, flags)
                if !exchanges { noteReplacement(of: target, claim, moved, by: thread) }
                return kept + enterMove(source, target, exchanges: exchanges, isSave: isSave, thread)
            }
        }
        // An app came between.
        if mustAsk { return renameInOrder(reply, source, target, flags, passes: false) }
        switch done {
        case .success(let untold?):
            settle(untold, claim, in: target.directory)
            reply.error(0)
        case .success(nil):
            fetch(absent, for: reply) { driver, reply in
                driver.performRename(reply, source, target, flags, isSave: isSave, claim, hasAsked: hasAsked)
            }
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// What a program takes away by a rename: the document at the target, or one that it moves to a backup's name.
    private static func takenAway(_ source: Entry, _ target: Entry) -> [Entry] {
        ephemeralNames.contains(target.name) && !ephemeralNames.contains(source.name) ? [target, source] : [target]
    }

    /// Brings the content of what is at `entry`, then goes on.
    func fetch(
        _ entry: Entry, for reply: consuming Reply,
        then operation: @escaping @Sendable (Driver, consuming Reply) -> Void
    ) {
        let inode = Result { () throws(DriverError) -> UInt64 in
            try StoreCall.status(in: try resolver.directory(entry.directory), entry.name).inode
        }
        switch inode {
        case .success(let inode):
            guard let node = table.known(inode) else { return reply.error(EBUSY) }
            parkForContent(reply, node, then: operation)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// - Returns: the status of what is at the target now.
    private func move(_ source: Entry, _ target: Entry, _ flags: CUnsignedInt) throws(DriverError) -> stat {
        let from = try resolver.directory(source.directory)
        let to = try resolver.directory(target.directory)
        // Most often nothing is there, and then nothing has to be looked at first.
        if flags == 0, try wasFree(from, source.name, to, target.name) {
            return try moved(source, from, target, to, exchanging: nil, replaced: nil)
        }
        let inode = try StoreCall.status(in: from, source.name).inode
        let present = try StoreCall.statusIfAny(in: to, target.name)
        let exchanges = flags & Self.exchange != 0
        let replaced = exchanges ? nil : present
        let replacedIsLast = replaced.map { $0.st_nlink <= 1 || $0.st_mode & S_IFMT == S_IFDIR } ?? false
        let kept = replaced.flatMap { keepReach(to: $0, in: to, target.name, otherNamesRemain: !replacedIsLast) }

        try StoreCall.check(Self.rename(from, source.name, to, target.name, flags))
        // Two names of one file: POSIX says that nothing happens.
        if let present, present.inode == inode { return present }
        if let replaced {
            detach(replaced.inode, from: target.directory, target.name, wasLast: replacedIsLast, kept: kept)
        }
        let now = try moved(source, from, target, to, exchanging: exchanges ? present : nil, replaced: replaced)
        if !replacedIsLast, let kept, let status = try? StoreCall.status(of: kept) { reportLinkCount(status) }
        return now
    }

    /// Renames where nothing has the new name. False, and nothing is done, where something has, or the store's file system
    /// cannot tell.
    private func wasFree(
        _ from: Descriptor, _ source: FileName, _ to: Descriptor, _ target: FileName
    ) throws(DriverError) -> Bool {
        guard Self.rename(from, source, to, target, Self.noReplace) != 0 else { return true }
        guard errno == EEXIST || errno == EINVAL else { throw DriverError.last() }
        return false
    }

    private static func rename(
        _ from: Descriptor, _ source: FileName, _ to: Descriptor, _ target: FileName, _ flags: CUnsignedInt
    ) -> CInt {
        source.withCString { old in target.withCString { new in quire_renameat2(from.raw, old, to.raw, new, flags) } }
    }

    /// The store has renamed: so do the table, the index and the kernel.
    ///
    /// - Parameter exchanging: what was at the target before, where the two changed places.
    /// - Returns: the status of what is at the target now.
    private func moved(
        _ source: Entry, _ from: Descriptor, _ target: Entry, _ to: Descriptor, exchanging: stat?, replaced: stat?
    ) throws(DriverError) -> stat {
        contentsChanged(source.directory)
        if source.directory !== target.directory { contentsChanged(target.directory) }
        let now = try StoreCall.status(in: to, target.name)
        let exchanged = exchanging == nil ? nil : try StoreCall.status(in: from, source.name)
        table.locked { state in
            let node = state.byInode[now.inode]
            Self.reattach(node, from: source, to: target)
            if let exchanging { Self.reattach(state.byInode[exchanging.inode], from: target, to: source) }
            record(
                .renamed(
                    .init(
                        fromParent: source.directory.inode, fromName: source.name,
                        toParent: target.directory.inode, toName: target.name, status: FileStatus(now),
                        replaced: replaced?.inode, exchanged: exchanged.map { FileStatus($0) },
                        writersOpen: (node?.writers ?? 0) > 0)))
        }
        // A rename changes the ctime that a file's other names show as well.
        if now.st_nlink > 1 { reportLinkCount(now) }
        if let exchanged, exchanged.st_nlink > 1 { reportLinkCount(exchanged) }
        return now
    }

    // RENAME_NOREPLACE and RENAME_EXCHANGE of <linux/fs.h>.
    private static let noReplace: CUnsignedInt = 1
    static let exchange: CUnsignedInt = 2

    /// With the table locked: the node that was at one end is at the other.
    static func reattach(_ node: Node?, from source: Entry, to target: Entry) {
        guard let node else { return }
        node.removeName(source)
        node.addName(target)
        node.isKnownWhereItIs()
    }
}
