import CFuse
import CLinux
import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireStore
import Synchronization

/// How an OPEN is answered.
struct OpenAnswer {
    var flags: UInt32
    var backing: CInt
}

extension Driver {
    /// Whether open flags allow writing.
    static func isWriter(_ flags: CInt) -> Bool { flags & O_ACCMODE != O_RDONLY }

    /// What of a program's open flags is used on the store. Not O_APPEND: the kernel names each write's place, and
    /// write-back of a mapping must not be appended. Not O_DIRECT, O_SYNC: the kernel sees to them above.
    static func storeFlags(_ flags: CInt) -> CInt { (flags & O_ACCMODE) | O_CLOEXEC | O_NOFOLLOW }

    /// As `storeFlags`, for a kernel that collects writes: it reads the rest of a page that a program only writes to.
    func wantedStoreFlags(_ flags: CInt) -> CInt {
        let plain = Self.storeFlags(flags)
        guard writesBack.load(ordering: .relaxed), flags & O_ACCMODE == O_WRONLY else { return plain }
        return plain & ~O_ACCMODE | O_RDWR
    }

    /// OPEN. A dataless file is downloaded first, unless it is opened to be emptied.
    ///
    /// - Parameter passes: see `coordinated`.
    func open(_ reply: consuming Reply, _ node: Node, _ flags: CInt, passes: Bool = true) {
        if table.handles.isWorthWaiting {
            return parkForHandle(reply) { driver, reply in driver.open(reply, node, flags, passes: passes) }
        }
        if mustAskCoordinator {
            let isWriter = Self.isWriter(flags) || flags & O_TRUNC != 0
            let accesses = isWriter ? accesses(writing: node) : accesses(reading: node)
            let keepsLock = flags & O_TRUNC != 0 && writesBack.load(ordering: .relaxed)
            coordinated(reply, accesses, passes: passes, restart: keepsLock ? restart(of: node) : nil) {
                driver, reply, claim in
                if driver.wasReplaced(node, accesses), driver.staleAnswers.mayAnswer(reply.caller.pid) {
                    return reply.error(ESTALE)
                }
                driver.performOpen(reply, node, flags, isWriter ? claim : nil, hasAsked: true, pass: claim?.pass)
            }
        } else {
            performOpen(reply, node, flags, nil, hasAsked: false)
        }
    }

    private func performOpen(
        _ reply: consuming Reply, _ node: Node, _ flags: CInt, _ claim: HeldClaim?, hasAsked: Bool, pass: Pass? = nil,
        arriving: (any ArrivingContent)? = nil, spared: SparedContent = .untried
    ) {
        let caller = reply.caller
        var mustAsk = false
        let opened = Result { () throws(DriverError) -> (OpenFile, OpenAnswer)? in
            try gate.shared { () throws(DriverError) -> (OpenFile, OpenAnswer)? in
                mustAsk = hasAsked ? isStale(pass) : mustAskCoordinator
                return mustAsk ? nil : try openFile(node, flags, claim, caller, arriving, spared)
            }
        }
        // An app came between.
        if mustAsk { return open(reply, node, flags, passes: false) }
        switch opened {
        case .success((let file, let answer)?):
            let handle = file.retainedHandle()
            staleAnswers.settle(caller.pid)
            if !reply.opened(handle, flags: answer.flags, backing: answer.backing), let mapped = close(handle) {
                watch(mapped)
            }
        case .success(nil) where flags & (O_ACCMODE | O_TRUNC) == O_RDONLY:
            parkForReading(reply, node) { driver, reply, arriving in
                driver.performOpen(reply, node, flags, claim, hasAsked: hasAsked, pass: pass, arriving: arriving)
            }
        case .success(nil):
            parkForSparing(reply, node, isEmptied: flags & O_TRUNC != 0, claim) { driver, reply, spared in
                driver.performOpen(reply, node, flags, claim, hasAsked: hasAsked, pass: pass, spared: spared)
            }
        case .failure(let error):
            if error.errno == ESTALE { staleAnswers.note(caller.pid) }
            reply.error(error.errno)
        }
    }

    /// - Returns: nil when the content must be fetched, or copied, first.
    private func openFile(
        _ node: Node, _ flags: CInt, _ claim: HeldClaim?, _ caller: Caller, _ arriving: (any ArrivingContent)?,
        _ spared: SparedContent
    ) throws(DriverError) -> (OpenFile, OpenAnswer)? {
        try table.handles.admit()
        // The kernel has checked that the caller may; the store asks whether this process may.
        let untouched = runsAsRoot || caller.uid == geteuid() ? flags & quire_O_NOATIME : 0
        let descriptor = try openStore(node, flags, untouched)
        var status = try StoreCall.status(of: descriptor)
        // It just lost its name: another took its place, and the kernel brings the name a moment after the driver has. Looked
        // up again, which waits for that, it is the new one; or this one is meant, by way of a descriptor (`/proc/self/fd`).
        if status.st_nlink == 0 || table.locked({ _ in node.wasTakenAway }), staleAnswers.mayAnswer(caller.pid) {
            throw DriverError(ESTALE)
        }
        let mayChange = Self.isWriter(flags) || flags & O_TRUNC != 0
        let mark = mayChange ? PlaceholderMark(of: descriptor.raw, FileStatus(status)) : nil
        let isPlaceholder = mark.map { $0 == .counts } ?? isDataless(descriptor, status)
        let arrival = arriving.flatMap { isPlaceholder && $0.inode == status.inode ? Arrival($0, status) : nil }
        if isPlaceholder, flags & O_TRUNC == 0, arrival == nil { return nil }
        if flags & O_TRUNC != 0,
            try mustPrepare(emptying: node, status, claim, by: caller.pid, spared, isDataless: isPlaceholder)
        {
            return nil
        }
        let file = OpenFile(
            node: node, descriptor: descriptor, isWriter: Self.isWriter(flags),
            opensForReading: flags & O_ACCMODE != O_WRONLY, claim: claim, thread: caller.pid, arrival: arrival)
        watch(file)
        if mark == .stale {
            try discardMark(descriptor)
            status = try StoreCall.status(of: descriptor)
        }
        var kept = UntoldChange.nothing
        if flags & O_TRUNC != 0 {
            if !isPlaceholder { kept = try keepMissed(beforeEmptying: node, status, claim, by: caller.pid, spared) }
            try StoreCall.check(leavingTimes(of: descriptor) { ftruncate(descriptor.raw, 0) })
            if isPlaceholder { try discardPlaceholder(node, descriptor) }
            try stripPrivileges(of: node, descriptor, status, caller)
            status = try StoreCall.status(of: descriptor)
        }
        noteUse(file, status, truncates: flags & O_TRUNC != 0)
        let answer = register(file, status, flags)
        // What the kernel knows of it is not to be repeated from now on: see `ShownAttributes`.
        if file.isWriter && answer.backing > 0 || arrival != nil { notifier.attributesChanged(table.identifier(node)) }
        if flags & O_TRUNC != 0 || mark == .stale { report(node, status, content: true) }
        if flags & O_TRUNC != 0 { tellChange(node, claim, caller.pid) }
        if !kept.isEmpty { notifier.whenDelivered { [services, kept] in services.coordinator.tell(kept) } }
        return (file, answer)
    }

    private func openStore(_ node: Node, _ flags: CInt, _ more: CInt) throws(DriverError) -> Descriptor {
        let truncates = flags & O_TRUNC != 0 && flags & O_ACCMODE == O_RDONLY
        let wanted = wantedStoreFlags(flags) | (truncates ? O_RDWR : 0) | more
        do throws(DriverError) {
            return try resolver.open(node, wanted)
        } catch {
            // A file that its owner may write and not read: whole pages can be written to it.
            guard error.errno == EACCES, wanted != Self.storeFlags(flags) | more, !truncates else { throw error }
            return try resolver.open(node, Self.storeFlags(flags) | more)
        }
    }

    /// Enters an open file into its node and chooses the way of its data. Call inside the gate.
    func register(_ file: OpenFile, _ status: stat, _ flags: CInt) -> OpenAnswer {
        let node = file.node
        let wanted = backing(for: file, status)
        let (path, unused, isStale) = table.locked { state -> (DataPath, CInt?, Bool) in
            table.enter(file, &state)
            node.mayHavePrivilegeBits = status.st_mode & 0o6000 != 0
            let details = node.makeDetails()
            if details.reported == nil { details.reported = FileStatus(status).fingerprint }
            var unused = wanted
            if details.dataPath == .undecided {
                details.dataPath = wanted.map { .passthrough($0) } ?? .cached
                unused = nil
            }
            if details.dataPath.isPassthrough { node.pagesMayBeStale = true }
            return (details.dataPath, unused, node.pagesMayBeStale)
        }
        if let unused { closeBacking(unused) }
        switch path {
        case .passthrough(let backing):
            // Nothing of what was written is left to be sent when it is closed; RELEASE tells of it.
            var answer = CFUSE_OPEN_PASSTHROUGH | CFUSE_OPEN_NO_FLUSH
            if Self.mustSynchronize(flags) {
                answer |= CFUSE_OPEN_DIRECT_IO
                file.writesDirectly = true
            }
            return OpenAnswer(flags: UInt32(answer), backing: backing)
        case .cached, .undecided:
            let kept = isStale ? 0 : CFUSE_OPEN_KEEP_CACHE
            guard file.isWriter else { return OpenAnswer(flags: UInt32(kept | CFUSE_OPEN_NO_FLUSH), backing: 0) }
            file.writesDirectly = mustWriteAtOnce
            return OpenAnswer(flags: UInt32(file.writesDirectly ? CFUSE_OPEN_DIRECT_IO : kept), backing: 0)
        }
    }

    /// Whether writes of a handle with these flags have to be synchronized here, though the kernel could write by itself.
    ///
    /// O_DSYNC leaves the times for later, as `fdatasync` does: see `synchronize`. O_SYNC does not. A handle that reads, too,
    /// is left to the kernel: it would splice from pages that other handles of the file do not write to.
    private static func mustSynchronize(_ flags: CInt) -> Bool {
        flags & O_SYNC == O_DSYNC && flags & O_ACCMODE == O_WRONLY
    }

    /// Whether the kernel must not collect the writes of a file that is opened now.
    private var mustWriteAtOnce: Bool {
        guard writesBack.load(ordering: .relaxed),
            services.room.isNear || space.isShort(table.rootDescriptor, at: MonotonicClock.now())
        else { return false }
        // Without this the file could not be mapped.
        return session.withLock { $0?.raw.pointee.direct_mapping ?? false }
    }

    /// A backing id for the first handle of a file, where the kernel may read and write it alone.
    ///
    /// Not for files with setuid or setgid: writes must pass here, to strip them.
    private func backing(for file: OpenFile, _ status: stat) -> CInt? {
        guard passthroughAllowed.load(ordering: .relaxed) else { return nil }
        // Each write has to be counted; all handles of a file go one way, and a writer may come after a reader.
        if services.room.isNear { return nil }
        guard file.arrival == nil, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o6000 == 0 else { return nil }
        guard table.locked({ _ in file.node.dataPath == .undecided }) else { return nil }
        guard let session = session.withLock({ $0 }) else { return nil }
        // The kernel keeps what it is given until the last handle is closed: a writer's would count as one until then.
        let unwritten = file.isWriter ? file.descriptor.forReading() : nil
        let given = unwritten ?? file.descriptor
        let backing = withExtendedLifetime(given) { cfuse_backing_open(session.raw, given.raw) }
        if backing > 0 { return backing }
        // Else there is no room for one more at this moment.
        guard Self.neverPasses.contains(-backing) else { return nil }
        if passthroughAllowed.exchange(false, ordering: .relaxed) {
            passthroughRefusal.store(-backing, ordering: .relaxed)
            logger.info("no kernel passthrough", metadata: ["errno": "\(-backing)"])
        }
        return nil
    }

    /// No CAP_SYS_ADMIN, a file system of the store that cannot be stacked, a kernel without passthrough: that stays so.
    private static let neverPasses: Set<CInt> = [EPERM, ELOOP, EINVAL, EOPNOTSUPP, ENOTTY]

    private func closeBacking(_ backing: CInt) {
        guard let session = session.withLock({ $0 }) else { return }
        let result = cfuse_backing_close(session.raw, backing)
        if result < 0 { logger.warning("a backing file was not closed", metadata: ["errno": "\(-result)"]) }
    }

    /// FLUSH: a program closed one of its descriptors. What it wrote is reported before its close(2) returns.
    func flush(_ reply: consuming Reply, _ file: OpenFile) {
        if file.isWriter { gate.shared { reportIfChanged(file) } }
        reply.error(0)
    }

    func reportIfChanged(_ file: OpenFile) {
        let node = file.node
        let isChanged = table.locked { _ in
            // Looked at in one step with telling of it: nobody tells of an older state after a newer one.
            guard let status = try? StoreCall.status(of: file.descriptor), status.st_nlink > 0,
                node.details?.reported != FileStatus(status).fingerprint
            else { return false }
            reportLocked(node, status, content: true)
            return true
        }
        if isChanged { tellChange(node, file.claim, file.thread) }
    }

    /// Reports what was written through handles that are still open, or whose RELEASE is still to be read. From any thread,
    /// with no lock held.
    func reportWrites() {
        let files = table.locked { state in state.writing.values.compactMap { $0.files.first(where: \.isWriter) } }
        for file in files { gate.shared { reportIfChanged(file) } }
        lookAtMappings()
    }

    /// RELEASE: the last use of a handle is gone.
    func release(_ reply: consuming Reply, _ handle: UInt64) {
        let mapped = close(handle)
        reply.error(0)
        // Its own descriptor is closed by now.
        if let mapped { watch(mapped) }
    }

    /// Ends a handle.
    ///
    /// - Returns: the file where it has none any more, and the kernel may have it mapped for writing.
    func close(_ handle: UInt64) -> LingeringMappings.Mapped? {
        guard let file = OpenFile.borrowed(handle) else { return nil }
        let node = file.node
        var reported: Fingerprint?
        var mayBeMapped = false
        var told: Fingerprint?
        let backing = gate.shared { () -> CInt? in
            var status: stat?
            let finished = table.locked { state -> CInt? in
                reported = node.details?.reported
                table.leave(file, &state)
                // In one step: whoever tells of the file's attributes before has a writer, after it a write that was told; and
                // of two that close it the second tells of the newer state.
                status = file.isWriter ? try? StoreCall.status(of: file.descriptor) : nil
                if let status { reportLocked(node, status, content: true) }
                told = node.details?.reported
                guard let details = node.details, details.files.isEmpty else { return nil }
                // Nameless, but perhaps still held by the kernel (a directory entry gone, a descriptor passed on).
                if !node.hasName, node !== table.root, node.lookups > 0, details.orphan == nil {
                    details.orphan = file.descriptor
                }
                let path = details.dataPath
                mayBeMapped = details.mayBeMapped && node.hasName
                details.mayBeMapped = false
                details.dataPath = .undecided
                details.reported = nil
                node.dropDetails()
                if case .passthrough(let backing) = path { return backing }
                // What a mapping of a time of passthrough stores goes past the pages that were read since.
                if !table.mappings.mayChange(node.inode) { node.pagesMayBeStale = false }
                return nil
            }
            if let status, FileStatus(status).fingerprint != reported {
                noteWritten(file)
                tellChange(node, file.claim, file.thread)
            }
            return finished
        }
        if let backing { closeBacking(backing) }
        var mapped: LingeringMappings.Mapped?
        if backing != nil, mayBeMapped, let told { mapped = LingeringMappings.Mapped(file, told: told) }
        // What was shown of it to those who read it as it came.
        if file.arrival != nil { notifier.attributesChanged(table.identifier(node)) }
        if let closer = table.closer, table.locked({ _ in !node.hasName }) { closer.close(file.descriptor) }
        OpenFile.release(handle)
        return mapped
    }

    /// Waits for a handle that another program closes, then goes on.
    func parkForHandle(
        _ reply: consuming Reply, then operation: @escaping @Sendable (Driver, consuming Reply) -> Void
    ) {
        parking.offload(reply) { [self] reply in
            table.handles.waitForOne()
            let before = CallerUmask.enter()
            operation(self, reply)
            CallerUmask.leave(before)
        }
    }

    /// Waits for the content of a dataless file, then goes on.
    func parkForContent(
        _ reply: consuming Reply, _ node: Node, then operation: @escaping @Sendable (Driver, consuming Reply) -> Void
    ) {
        let inode = directoryInode(node)
        parking.park(
            reply,
            until: { [self] () async throws(DriverError) in
                try await following(node) { (path) throws(MaterializeError) in
                    try await services.content.materialize(path: path, inode: inode)
                }
            },
            then: { [self] reply in operation(self, reply) })
    }

    /// Asks for the content of a node's file, under the name that it has.
    func following(
        _ node: Node, _ ask: (RelativePath) async throws(MaterializeError) -> Void
    ) async throws(DriverError) {
        guard var path = table.path(of: node) else { throw DriverError(ESTALE) }
        while true {
            do throws(MaterializeError) {
                return try await ask(path)
            } catch {
                if Task.isCancelled { throw DriverError(EINTR) }
                // Renamed while its content was on the way: it is the same file.
                guard error.errno == ENOENT, let renamed = table.path(of: node), renamed != path else {
                    throw DriverError(error.errno)
                }
                path = renamed
            }
        }
    }
}
