import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore

extension Driver {
    /// MKDIR.
    func makeDirectory(_ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t) {
        if isOwn(reply) { return perform(reply, .makeDirectory(Entry(directory: directory, name: name))) }
        make(reply, directory, name, mode & 0o7777) { descriptor, name, mode in
            name.withCString { mkdirat(descriptor.raw, $0, mode) }
        }
    }

    /// MKNOD: regular files without opening them, FIFOs, sockets, and devices where the caller may.
    func makeNode(_ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ device: dev_t) {
        guard mode & S_IFMT == S_IFREG, services.room.isLimited else {
            return performMakeNode(reply, directory, name, mode, device)
        }
        admitNewFile(reply) { driver, reply in driver.performMakeNode(reply, directory, name, mode, device) }
    }

    private func performMakeNode(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ device: dev_t
    ) {
        make(reply, directory, name, mode & 0o7777) { descriptor, name, _ in
            name.withCString { mknodat(descriptor.raw, $0, mode, device) }
        }
    }

    /// SYMLINK.
    func makeSymlink(_ reply: consuming Reply, _ directory: Node, _ name: FileName, target: [CChar]) {
        make(reply, directory, name, nil) { descriptor, name, _ in
            name.withCString { symlinkat(target, descriptor.raw, $0) }
        }
    }

    private func make(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t?,
        _ call: @escaping @Sendable (Descriptor, FileName, mode_t) -> CInt
    ) {
        if mustAskCoordinator {
            let accesses = accesses(writing: name, in: directory)
            let restart = Restart(directories: [directory], last: .made(name, .fails))
            coordinated(reply, accesses, restart: restart) { driver, reply, claim in
                driver.staleAnswers.settle(reply.caller.pid)
                driver.performMake(reply, directory, name, mode, claim, call)
            }
        } else {
            performMake(reply, directory, name, mode, nil, call)
        }
    }

    private func performMake(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t?, _ claim: HeldClaim?,
        _ call: (Descriptor, FileName, mode_t) -> CInt
    ) {
        let caller = reply.caller
        let thread = caller.pid
        let made = Result { () throws(DriverError) -> (Node, stat) in
            try gate.shared { () throws(DriverError) -> (Node, stat) in
                let descriptor = try resolver.directory(directory)
                try StoreCall.check(call(descriptor, name, mode ?? 0))
                return try finishCreation(descriptor, directory, name, mode, caller)
            }
        }
        guard case .success = made else { return answer(reply, made) }
        settle(enterAppearance(name, in: directory, claim, thread), claim, in: directory)
        answer(reply, made)
    }

    /// Gives a new entry to the caller, and records it. Call inside the gate.
    private func finishCreation(
        _ descriptor: Descriptor, _ directory: Node, _ name: FileName, _ mode: mode_t?, _ caller: Caller
    ) throws(DriverError) -> (Node, stat) {
        try give(descriptor, name, to: caller, mode)
        let status = try StoreCall.status(in: descriptor, name)
        return (enter(status, directory, name), status)
    }

    /// The node of a new entry; the event is recorded.
    private func enter(_ status: stat, _ directory: Node, _ name: FileName) -> Node {
        let status = FileStatus(status)
        let (node, parent) = table.lookUpNew(status, in: directory, name: name)
        contentsChanged(directory)
        record(.created(parent: parent, name: name, status))
        return node
    }

    /// Makes a new entry the caller's, as if the caller had created it: their user, and their group unless the directory
    /// hands down its own (setgid). Nobody else meets the entry before: the kernel holds the directory's lock.
    private func give(_ directory: Descriptor, _ name: FileName, to caller: Caller, _ mode: mode_t?) throws(DriverError)
    {
        try give(
            in: directory, to: caller, mode,
            owner: { user, group in
                name.withCString { fchownat(directory.raw, $0, user, group, AT_SYMLINK_NOFOLLOW) }
            },
            mode: { mode in name.withCString { fchmodat(directory.raw, $0, mode, 0) } })
    }

    /// The same for a new file that is open. Returns its status.
    private func give(
        _ file: Descriptor, in directory: Descriptor, to caller: Caller, _ mode: mode_t
    ) throws(DriverError) -> stat {
        try give(
            in: directory, to: caller, mode, owner: { fchown(file.raw, $0, $1) }, mode: { fchmod(file.raw, $0) })
        return try StoreCall.status(of: file)
    }

    private func give(
        in directory: Descriptor, to caller: Caller, _ mode: mode_t?, owner setOwner: (uid_t, gid_t) -> CInt,
        mode setMode: (mode_t) -> CInt
    ) throws(DriverError) {
        guard runsAsRoot, caller.uid != 0 || caller.gid != 0 else { return }
        let inherits = try StoreCall.status(of: directory).st_mode & 0o2000 != 0
        try StoreCall.check(setOwner(caller.uid, inherits ? gid_t.max : caller.gid))
        // chown takes setuid and setgid away again.
        if let mode, mode & 0o6000 != 0 { try StoreCall.check(setMode(mode)) }
    }

    /// The inode of a directory's node.
    func directoryInode(_ directory: Node) -> UInt64 { table.locked { _ in directory.inode } }

    /// CREATE: a new file, opened.
    ///
    /// - Parameter passes: see `coordinated`.
    func create(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ flags: CInt,
        passes: Bool = true
    ) {
        if table.handles.isWorthWaiting {
            return parkForHandle(reply) { driver, reply in
                driver.create(reply, directory, name, mode, flags, passes: passes)
            }
        }
        if mustAskCoordinator {
            let accesses = accesses(writing: name, in: directory)
            let restart = Restart(
                directories: [directory], last: .made(name, flags & O_EXCL == 0 ? .opens : .fails))
            coordinated(reply, accesses, passes: passes, restart: restart) { driver, reply, claim in
                driver.staleAnswers.settle(reply.caller.pid)
                driver.performCreate(reply, directory, name, mode, flags, claim)
            }
        } else {
            performCreate(reply, directory, name, mode, flags, nil)
        }
    }

    private func performCreate(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ flags: CInt,
        _ claim: HeldClaim?
    ) {
        if services.room.isLimited {
            return admitNewFile(reply) { driver, reply in
                driver.createFile(reply, directory, name, mode, flags, claim)
            }
        }
        createFile(reply, directory, name, mode, flags, claim)
    }

    private func createFile(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ flags: CInt,
        _ claim: HeldClaim?
    ) {
        // Somebody (the sync engine) may be first: the kernel looks again then, and opens what is there.
        let refusal = flags & O_EXCL == 0 ? ESTALE : EEXIST
        let thread = reply.caller.pid
        makeFile(reply, in: directory, mode, flags, claim) { parent, flags in
            let raw = name.withCString { openat(parent.raw, $0, flags | O_CREAT | O_EXCL, mode & 0o7777) }
            if raw < 0, errno == EEXIST { errno = refusal }
            return raw
        } enter: { status in
            let node = enter(status, directory, name)
            noteReplacement(of: Entry(directory: directory, name: name), claim, status, by: thread)
            // The file holds the claim.
            settle(enterAppearance(name, in: directory, claim, thread), nil, in: directory)
            return node
        } askAgain: { driver, reply in
            driver.create(reply, directory, name, mode, flags, passes: false)
        }
    }

    /// TMPFILE: a new file without a name, opened. Nobody is told of it before LINK gives it one.
    func createNameless(_ reply: consuming Reply, _ directory: Node, _ mode: mode_t, _ flags: CInt) {
        if table.handles.isWorthWaiting {
            return parkForHandle(reply) { driver, reply in driver.createNameless(reply, directory, mode, flags) }
        }
        if services.room.isLimited {
            return admitNewFile(reply) { driver, reply in driver.makeNameless(reply, directory, mode, flags) }
        }
        makeNameless(reply, directory, mode, flags)
    }

    private func makeNameless(_ reply: consuming Reply, _ directory: Node, _ mode: mode_t, _ flags: CInt) {
        makeFile(reply, in: directory, mode, flags, nil) { parent, flags in
            // Not O_EXCL: the kernel knows whether it may get a name.
            openat(parent.raw, ".", flags | quire_O_TMPFILE, mode & 0o7777)
        } enter: { status in
            table.lookUpNameless(FileStatus(status))
        } askAgain: { driver, reply in
            driver.createNameless(reply, directory, mode, flags)
        }
    }

    /// Answers with a new file, opened.
    ///
    /// - Parameters:
    ///   - open: makes it in the store, with the open flags it is given.
    ///   - enter: gives its node.
    ///   - askAgain: begins anew, as an app came between.
    private func makeFile(
        _ reply: consuming Reply, in directory: Node, _ mode: mode_t, _ flags: CInt, _ claim: HeldClaim?,
        open: (Descriptor, CInt) -> CInt, enter: (stat) -> Node, askAgain: (Driver, consuming Reply) -> Void
    ) {
        let caller = reply.caller
        let made = Result { () throws(DriverError) -> (Node, stat, OpenFile, OpenAnswer)? in
            try gate.shared { () throws(DriverError) -> (Node, stat, OpenFile, OpenAnswer)? in
                if isStale(claim?.pass) { return nil }
                try table.handles.admit()
                let parent = try resolver.directory(directory)
                let raw = open(parent, wantedStoreFlags(flags))
                guard raw >= 0 else { throw DriverError.last() }
                let descriptor = Descriptor(owning: raw)
                let status = try give(descriptor, in: parent, to: caller, mode & 0o7777)
                let node = enter(status)
                let file = OpenFile(
                    node: node, descriptor: descriptor, isWriter: Self.isWriter(flags),
                    opensForReading: flags & O_ACCMODE != O_WRONLY, claim: claim, thread: caller.pid)
                watch(file)
                return (node, status, file, register(file, status, flags))
            }
        }
        switch made {
        case .success((let node, let status, let file, let answer)?):
            staleAnswers.settle(file.thread)
            let handle = file.retainedHandle()
            let taken = reply.created(
                table.identifier(node), table.shown(status, of: node), handle: handle, flags: answer.flags,
                backing: answer.backing)
            if !taken {
                if let mapped = close(handle) { watch(mapped) }
                table.forget(node, 1)
            }
        case .success(nil): askAgain(self, reply)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// LINK: one more name for a file, whose content has to be here: what arrives takes the place of one name only.
    func link(_ reply: consuming Reply, _ node: Node, _ directory: Node, _ name: FileName) {
        if mustAskCoordinator {
            let accesses = accesses(writing: name, in: directory)
            let restart = Restart(directories: [directory], last: .made(name, .fails))
            coordinated(reply, accesses, restart: restart) { driver, reply, claim in
                driver.staleAnswers.settle(reply.caller.pid)
                driver.performLink(reply, node, directory, name, claim)
            }
        } else {
            performLink(reply, node, directory, name, nil)
        }
    }

    private func performLink(
        _ reply: consuming Reply, _ node: Node, _ directory: Node, _ name: FileName, _ claim: HeldClaim?
    ) {
        let thread = reply.caller.pid
        let made = Result { () throws(DriverError) -> (Node, stat)? in
            try gate.shared { () throws(DriverError) -> (Node, stat)? in
                if try isDataless(node) { return nil }
                let parent = try resolver.directory(directory)
                let source = try resolver.reference(node)
                let result = name.withCString { linkat(AT_FDCWD, source.proc, parent.raw, $0, AT_SYMLINK_FOLLOW) }
                try StoreCall.check(result)
                let status = try StoreCall.status(in: parent, name)
                contentsChanged(directory)
                let linked = table.lookUp(FileStatus(status), in: directory, name: name)
                record(.created(parent: directoryInode(directory), name: name, FileStatus(status)))
                report(linked, status, content: false)
                return (linked, status)
            }
        }
        switch made {
        case .success(let linked?):
            settle(enterAppearance(name, in: directory, claim, thread), claim, in: directory)
            answer(reply, .success(linked))
        case .success(nil):
            parkForContent(reply, node) { driver, reply in driver.performLink(reply, node, directory, name, claim) }
        case .failure(let error): reply.error(error.errno)
        }
    }
}
