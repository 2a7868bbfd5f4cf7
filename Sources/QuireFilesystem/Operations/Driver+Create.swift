import CFuse
import CLinux
import Glibc
import QuireCore

extension Driver {
    /// MKDIR.
    func makeDirectory(_ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t) {
        make(reply, directory, name, mode & 0o7777) { descriptor, name, mode in
            name.withCString { mkdirat(descriptor.raw, $0, mode) }
        }
    }

    /// MKNOD: regular files without opening them, FIFOs, sockets, and devices where the caller may.
    func makeNode(_ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ device: dev_t) {
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
            coordinated(reply, accesses) { driver, reply, _ in driver.performMake(reply, directory, name, mode, call) }
        } else {
            performMake(reply, directory, name, mode, call)
        }
    }

    private func performMake(
        _ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t?,
        _ call: (Descriptor, FileName, mode_t) -> CInt
    ) {
        let caller = reply.caller
        let made = Result { () throws(DriverError) -> (Node, stat) in
            try gate.shared { () throws(DriverError) -> (Node, stat) in
                let descriptor = try resolver.directory(directory)
                try StoreCall.check(call(descriptor, name, mode ?? 0))
                return try finishCreation(descriptor, directory, name, mode, caller)
            }
        }
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
        record(.created(parent: parent, name: name, status))
        return node
    }

    /// As `give(_:_:to:_:)`, for a new file that is open. Returns its status.
    private func give(
        _ file: Descriptor, in directory: Descriptor, to caller: Caller, _ mode: mode_t
    ) throws(DriverError) -> stat {
        if runsAsRoot, caller.uid != 0 || caller.gid != 0 {
            let inherits = try StoreCall.status(of: directory).st_mode & 0o2000 != 0
            try StoreCall.check(fchown(file.raw, caller.uid, inherits ? gid_t.max : caller.gid))
            if mode & 0o6000 != 0 { try StoreCall.check(fchmod(file.raw, mode)) }
        }
        return try StoreCall.status(of: file)
    }

    /// Makes a new entry the caller's, as if the caller had created it: their user, and their group unless the directory
    /// hands down its own (setgid). Nobody else meets the entry before: the kernel holds the directory's lock.
    private func give(_ directory: Descriptor, _ name: FileName, to caller: Caller, _ mode: mode_t?) throws(DriverError)
    {
        guard runsAsRoot, caller.uid != 0 || caller.gid != 0 else { return }
        let inherits = try StoreCall.status(of: directory).st_mode & 0o2000 != 0
        let group = inherits ? gid_t.max : caller.gid
        try StoreCall.check(
            name.withCString { fchownat(directory.raw, $0, caller.uid, group, AT_SYMLINK_NOFOLLOW) })
        // chown takes setuid and setgid away again.
        if let mode, mode & 0o6000 != 0 {
            try StoreCall.check(name.withCString { fchmodat(directory.raw, $0, mode, 0) })
        }
    }

    /// The inode of a directory's node.
    func directoryInode(_ directory: Node) -> UInt64 { table.locked { _ in directory.inode } }

    /// CREATE: a new file, opened.
    func create(_ reply: consuming Reply, _ directory: Node, _ name: FileName, _ mode: mode_t, _ flags: CInt) {
        if mustAskCoordinator {
            let accesses = accesses(writing: name, in: directory)
            coordinated(reply, accesses) { driver, reply, claim in
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
        let caller = reply.caller
        let made = Result { () throws(DriverError) -> (Node, stat, OpenFile, OpenAnswer) in
            try gate.shared { () throws(DriverError) -> (Node, stat, OpenFile, OpenAnswer) in
                try table.handles.admitFile()
                let parent = try resolver.directory(directory)
                let storeFlags = wantedStoreFlags(flags) | O_CREAT | O_EXCL
                let raw = name.withCString { openat(parent.raw, $0, storeFlags, mode & 0o7777) }
                guard raw >= 0 else {
                    // Somebody (the sync engine) was first: the kernel looks again and opens what is there.
                    throw errno == EEXIST && flags & O_EXCL == 0 ? DriverError(ESTALE) : DriverError.last()
                }
                let descriptor = Descriptor(owning: raw)
                let status = try give(descriptor, in: parent, to: caller, mode & 0o7777)
                let node = enter(status, directory, name)
                let file = OpenFile(node: node, descriptor: descriptor, isWriter: Self.isWriter(flags), claim: claim)
                return (node, status, file, register(file, status))
            }
        }
        answer(reply, created: made)
    }

    /// TMPFILE: a new file without a name, opened. Nobody is told of it before LINK gives it one.
    func createNameless(_ reply: consuming Reply, _ directory: Node, _ mode: mode_t, _ flags: CInt) {
        let caller = reply.caller
        let made = Result { () throws(DriverError) -> (Node, stat, OpenFile, OpenAnswer) in
            try gate.shared { () throws(DriverError) -> (Node, stat, OpenFile, OpenAnswer) in
                try table.handles.admitFile()
                let parent = try resolver.directory(directory)
                // Not O_EXCL: the kernel knows whether it may get a name.
                let raw = openat(parent.raw, ".", Self.storeFlags(flags) | quire_O_TMPFILE, mode & 0o7777)
                guard raw >= 0 else { throw DriverError.last() }
                let descriptor = Descriptor(owning: raw)
                let status = try give(descriptor, in: parent, to: caller, mode & 0o7777)
                let node = table.lookUpNameless(FileStatus(status))
                let file = OpenFile(node: node, descriptor: descriptor, isWriter: Self.isWriter(flags), claim: nil)
                return (node, status, file, register(file, status))
            }
        }
        answer(reply, created: made)
    }

    private func answer(
        _ reply: consuming Reply, created made: Result<(Node, stat, OpenFile, OpenAnswer), DriverError>
    ) {
        switch made {
        case .success((let node, let status, let file, let answer)):
            let handle = file.retainedHandle()
            let taken = reply.created(
                table.identifier(node), table.shown(status, of: node), handle: handle, flags: answer.flags,
                backing: answer.backing)
            if !taken {
                close(handle)
                table.forget(node, 1)
            }
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// LINK: one more name for a file.
    func link(_ reply: consuming Reply, _ node: Node, _ directory: Node, _ name: FileName) {
        if mustAskCoordinator {
            let accesses = accesses(writing: name, in: directory)
            coordinated(reply, accesses) { driver, reply, _ in driver.performLink(reply, node, directory, name) }
        } else {
            performLink(reply, node, directory, name)
        }
    }

    private func performLink(_ reply: consuming Reply, _ node: Node, _ directory: Node, _ name: FileName) {
        let made = Result { () throws(DriverError) -> (Node, stat) in
            try gate.shared { () throws(DriverError) -> (Node, stat) in
                let parent = try resolver.directory(directory)
                let source = try resolver.reference(node)
                let result = name.withCString { linkat(AT_FDCWD, source.proc, parent.raw, $0, AT_SYMLINK_FOLLOW) }
                try StoreCall.check(result)
                let status = try StoreCall.status(in: parent, name)
                let linked = table.lookUp(FileStatus(status), in: directory, name: name)
                record(.created(parent: directoryInode(directory), name: name, FileStatus(status)))
                report(linked, status, content: false)
                return (linked, status)
            }
        }
        answer(reply, made)
    }
}
