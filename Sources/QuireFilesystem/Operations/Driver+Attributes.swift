import CFuse
import CLinux
import Glibc
import QuireCoordination
import QuireCore
import QuireStore

/// What a SETATTR asks for.
struct AttributeChange: Sendable {
    var mode: mode_t?
    var uid: uid_t?
    var gid: gid_t?
    var size: off_t?
    /// UTIME_NOW and UTIME_OMIT as in utimensat(2); nil when neither time is set.
    var times: (access: timespec, modification: timespec)?

    init(_ attributes: stat, _ set: CInt) {
        if set & FUSE_SET_ATTR_MODE != 0 { mode = attributes.st_mode & 0o7777 }
        if set & FUSE_SET_ATTR_UID != 0 { uid = attributes.st_uid }
        if set & FUSE_SET_ATTR_GID != 0 { gid = attributes.st_gid }
        if set & FUSE_SET_ATTR_SIZE != 0 { size = attributes.st_size }
        let access = Self.time(set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, attributes.st_atim)
        let modification = Self.time(set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, attributes.st_mtim)
        if access.tv_nsec != Self.omitted || modification.tv_nsec != Self.omitted { times = (access, modification) }
    }

    /// Whether nothing but the access time changes.
    var isAccessTimeOnly: Bool {
        mode == nil && uid == nil && gid == nil && size == nil && times?.modification.tv_nsec == Self.omitted
    }

    /// The modification time alone, which is given.
    ///
    /// With a handle it is what the kernel keeps of cached writes and tells when it writes them back; utimensat(2) comes
    /// without one. (Linux, fs/fuse/inode.c, `fuse_flush_times`)
    var modificationTimeOnly: FileTime? {
        guard mode == nil, uid == nil, gid == nil, size == nil, let times, times.access.tv_nsec == Self.omitted else {
            return nil
        }
        return modificationTime
    }

    /// Whether the modification time may be another afterwards.
    var setsModificationTime: Bool { times.map { $0.modification.tv_nsec != Self.omitted } ?? false }

    /// The modification time, where one is given.
    var modificationTime: FileTime? {
        guard let time = times?.modification, ![Self.omitted, Self.now].contains(time.tv_nsec) else { return nil }
        return FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    // UTIME_NOW of <sys/stat.h>, a macro that Swift does not see.
    static let now = (1 << 30) - 1
    static let omitted = quire_UTIME_OMIT

    private static func time(_ set: CInt, _ given: CInt, _ current: CInt, _ time: timespec) -> timespec {
        if set & current != 0 { return timespec(tv_sec: 0, tv_nsec: now) }
        return set & given != 0 ? time : timespec(tv_sec: 0, tv_nsec: omitted)
    }
}

extension Driver {
    /// GETATTR. `stat` never waits for anybody; a call that begins anew does, where the kernel looks at its directory first.
    func attributes(_ reply: consuming Reply, _ node: Node) {
        if retries.isEmpty || !node.isDirectory { return performAttributes(reply, node) }
        waitForRetry(reply) { driver, reply in driver.performAttributes(reply, node) }
    }

    private func performAttributes(_ reply: consuming Reply, _ node: Node) {
        let moment = table.moment
        switch Result(catching: { () throws(DriverError) in try resolver.status(node) }) {
        case .success(let status):
            var shown = table.shown(status, of: node, asOf: moment)
            // Who is about to begin anew is to ask for it, too.
            if node.isDirectory, !retries.isEmpty { shown.mayBeKept = false }
            reply.attributes(shown)
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// ACCESS: access(2) and chdir(2), where the kernel leaves permissions to the driver: then all programs are the daemon's
    /// own user, and the store's file system answers as it would answer them.
    func access(_ reply: consuming Reply, _ node: Node, _ mask: CInt) {
        let allowed = Result { () throws(DriverError) -> Void in
            let reference = try resolver.reference(node)
            let result = withExtendedLifetime(reference) { quire_access(reference.raw, mask) }
            try StoreCall.check(result)
        }
        answer(reply, allowed)
    }

    /// SETATTR: chmod, chown, truncate, utimens.
    func setAttributes(_ reply: consuming Reply, _ node: Node, _ change: AttributeChange, _ file: OpenFile?) {
        // The access time alone is nothing that anybody has to know of.
        if let file, let claim = file.claim {
            // Part of what the handle was opened for.
            performSetAttributes(reply, node, change, file, claim)
        } else if mustAskCoordinator, !change.isAccessTimeOnly {
            let accesses = accesses(writing: node, change.size == nil ? .contentIndependentMetadataOnly : .inPlace)
            // truncate(2) alone begins anew; what is done through a descriptor does not.
            let restart = file == nil && change.size != nil ? restart(of: node) : nil
            coordinated(reply, accesses, restart: restart) { driver, reply, claim in
                let thread = reply.caller.pid
                if file == nil, driver.wasReplaced(node, accesses), driver.staleAnswers.mayAnswer(thread) {
                    return reply.error(ESTALE)
                }
                driver.staleAnswers.settle(thread)
                driver.performSetAttributes(reply, node, change, file, claim)
            }
        } else {
            performSetAttributes(reply, node, change, file, nil)
        }
    }

    private func performSetAttributes(
        _ reply: consuming Reply, _ node: Node, _ change: AttributeChange, _ file: OpenFile?, _ claim: HeldClaim?
    ) {
        if services.room.isLimited, let size = change.size, let status = try? resolver.status(node) {
            return admit(reply, size - status.st_size) { driver, reply in
                driver.changeAttributes(reply, node, change, file, claim)
            }
        }
        changeAttributes(reply, node, change, file, claim)
    }

    private func changeAttributes(
        _ reply: consuming Reply, _ node: Node, _ change: AttributeChange, _ file: OpenFile?, _ claim: HeldClaim?,
        spared: SparedContent = .untried
    ) {
        let caller = reply.caller
        var kept = UntoldChange.nothing
        let outcome = Result { () throws(DriverError) -> stat? in
            try gate.shared { () throws(DriverError) -> stat? in
                try apply(change, to: node, file, caller, claim, spared, &kept)
            }
        }
        // It is there, whatever became of the rest.
        if !kept.isEmpty { notifier.whenDelivered { [services, kept] in services.coordinator.tell(kept) } }
        switch outcome {
        case .success(let status?):
            if !change.isAccessTimeOnly { tellChange(node, claim, caller.pid) }
            reply.attributes(table.shown(status, of: node))
        case .success(nil):
            parkForSparing(reply, node, isEmptied: Self.isEmptied(change, file), claim) { driver, reply, spared in
                driver.changeAttributes(reply, node, change, file, claim, spared: spared)
            }
        case .failure(let error): reply.error(error.errno)
        }
    }

    /// - Parameter kept: what presenters are to be told of a version that was kept.
    /// - Returns: nil when the content must be fetched, or copied, first.
    private func apply(
        _ change: AttributeChange, to node: Node, _ file: OpenFile?, _ caller: Caller, _ claim: HeldClaim?,
        _ spared: SparedContent, _ kept: inout UntoldChange
    ) throws(DriverError) -> stat? {
        var contentChanged = false
        if let size = change.size {
            if Self.isEmptied(change, file) {
                guard let more = try keepMissed(beforeEmptying: node, claim, by: caller.pid, spared) else { return nil }
                kept = more
            }
            guard try truncate(node, file, to: size, caller) else { return nil }
            contentChanged = true
        }
        noteTruncation(change, of: node, file)
        if change.size == nil || change.mode != nil || change.uid != nil || change.gid != nil || change.times != nil {
            let reference: Descriptor
            if let file { reference = file.descriptor } else { reference = try resolver.reference(node) }
            // Nothing at all is a chown to the owner and group it has: that, too, takes setuid and setgid away.
            if change.uid != nil || change.gid != nil || change.mode == nil && change.times == nil && change.size == nil
            {
                try StoreCall.check(
                    fchownat(reference.raw, "", change.uid ?? uid_t.max, change.gid ?? gid_t.max, AT_EMPTY_PATH))
            }
            if let mode = change.mode { try StoreCall.check(quire_any_fchmod(reference.raw, mode)) }
            if let times = change.times {
                try Self.setTimes(times, of: reference)
                if file != nil, let time = change.modificationTimeOnly, let later = truncationTime(of: node),
                    later > time
                {
                    let time = timespec(tv_sec: later.seconds, tv_nsec: later.subsecondNanoseconds)
                    try Self.setTimes((times.access, time), of: reference)
                }
            }
        }
        let status: stat
        if let file { status = try StoreCall.status(of: file.descriptor) } else { status = try resolver.status(node) }
        report(node, status, content: contentChanged, setsTimes: change.setsModificationTime)
        if Self.isEmptied(change, file) { noteEmptying(of: node, status, claim, by: caller.pid) }
        return status
    }

    /// Whether a document is emptied by its path: what is done through a descriptor is part of what that was opened for.
    private static func isEmptied(_ change: AttributeChange, _ file: OpenFile?) -> Bool {
        file == nil && change.size == 0
    }

    private static func setTimes(
        _ times: (access: timespec, modification: timespec), of reference: Descriptor
    ) throws(DriverError) {
        var both = times
        let result = withUnsafePointer(to: &both) {
            $0.withMemoryRebound(to: timespec.self, capacity: 2) { quire_any_futimens(reference.raw, $0) }
        }
        try StoreCall.check(result)
    }

    /// Keeps the time of a truncation for as long as the file is open. To be called between the truncation and setting its
    /// time.
    ///
    /// What the kernel tells of cached writes holds none of its locks: it may overtake a later truncation on its way, or be
    /// overtaken, and set the time back. Whoever sets it looks at this afterwards.
    private func noteTruncation(_ change: AttributeChange, of node: Node, _ file: OpenFile?) {
        // Anybody may set the time back on purpose.
        guard change.size != nil || file == nil, let time = change.modificationTime else { return }
        table.locked { _ in node.details?.truncationTime = change.size == nil ? nil : time }
    }

    private func truncationTime(of node: Node) -> FileTime? { table.locked { _ in node.details?.truncationTime } }

    /// - Returns: false when the content must be fetched first.
    private func truncate(_ node: Node, _ file: OpenFile?, to size: off_t, _ caller: Caller) throws(DriverError) -> Bool
    {
        let descriptor: Descriptor
        if let file, file.isWriter {
            descriptor = file.descriptor
        } else {
            descriptor = try resolver.open(node, O_WRONLY)
        }
        let before = try StoreCall.status(of: descriptor)
        let mark = PlaceholderMark(of: descriptor.raw, FileStatus(before))
        if mark == .counts, size != 0 { return false }
        if mark == .stale { try discardMark(descriptor) }
        // Each as it was asked for: to the size that a file has, what becomes of its time is the file system's own, and
        // what was allocated past the size is freed.
        try StoreCall.check(file == nil ? Glibc.truncate(descriptor.proc, size) : ftruncate(descriptor.raw, size))
        // In this order: a placeholder that lost its mark too early would be taken for a file full of zeros.
        if mark == .counts { try discardPlaceholder(node, descriptor) }
        try stripPrivileges(of: node, descriptor, before, caller)
        return true
    }

    /// Whether the file's content is not here.
    func isDataless(_ descriptor: Descriptor, _ status: stat) -> Bool {
        guard Placeholder.isCandidate(FileStatus(status)) else { return false }
        return PlaceholderMark(of: descriptor.raw, FileStatus(status)) == .counts
    }

    /// The same of a node.
    func isDataless(_ node: Node) throws(DriverError) -> Bool {
        let status = try resolver.status(node)
        guard status.st_mode & S_IFMT == S_IFREG, Placeholder.isCandidate(FileStatus(status)) else { return false }
        return isDataless(try resolver.open(node, O_RDONLY), status)
    }

    /// The same of a name in a directory of the store.
    func isDataless(_ name: FileName, in directory: CInt, _ status: stat) throws(DriverError) -> Bool {
        guard Placeholder.isCandidate(FileStatus(status)) else { return false }
        let raw = name.withCString { openat(directory, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard raw >= 0 else { throw DriverError.last() }
        return isDataless(Descriptor(owning: raw), status)
    }

    /// Takes the placeholder's mark off a file that was just emptied. Who reads what arrives of it reads the file from now
    /// on.
    func discardPlaceholder(_ node: Node, _ descriptor: Descriptor) throws(DriverError) {
        try discardMark(descriptor)
        settleArrivals(of: node)
    }

    /// Takes the mark off a file that is none: what is written to it, holes too, is its content.
    func discardMark(_ descriptor: Descriptor) throws(DriverError) {
        let result = fremovexattr(descriptor.raw, StoreAttribute.placeholder)
        // A rescan may have been faster.
        guard result != 0, errno != ENODATA else { return }
        throw DriverError.last()
    }

    /// After a write or truncate by an ordinary user: setuid goes, and setgid where the group may execute. The kernel
    /// leaves this to the driver (FUSE_HANDLE_KILLPRIV_V2).
    func stripPrivileges(
        of node: Node, _ descriptor: Descriptor, _ status: stat, _ caller: Caller
    ) throws(DriverError) {
        guard caller.uid != 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o6000 != 0 else { return }
        var mode = status.st_mode & 0o7777 & ~mode_t(0o4000)
        if mode & 0o0010 != 0 { mode &= ~mode_t(0o2000) }
        guard mode != status.st_mode & 0o7777 else { return }
        try StoreCall.check(fchmod(descriptor.raw, mode))
        notifier.attributesChanged(table.identifier(node))
    }

    /// Records that a file changed, with its status afterwards. Call inside the gate.
    ///
    /// - Parameter setsTimes: what changed may be its times.
    func report(_ node: Node, _ status: stat, content: Bool, setsTimes: Bool = false) {
        table.locked { _ in reportLocked(node, status, content: content, setsTimes: setsTimes) }
    }

    /// As `report`, with the table locked.
    ///
    /// Whether writers are open is found and recorded in one step: of two threads that tell of one file, the later speaks
    /// last.
    func reportLocked(_ node: Node, _ status: stat, content: Bool, setsTimes: Bool = false) {
        guard status.st_nlink > 0 else { return }
        let status = FileStatus(status)
        node.details?.reported = status.fingerprint
        node.mayHavePrivilegeBits = status.mode & 0o6000 != 0
        let writersOpen = node.writers > 0 || table.mappings.contains(node.inode)
        record(
            content
                ? .contentChanged(status, writersOpen: writersOpen)
                : .attributesChanged(status, writersOpen: writersOpen, setsTimes: setsTimes))
    }

    /// STATFS.
    func space(_ reply: consuming Reply) {
        var status = statvfs()
        if fstatvfs(table.rootDescriptor.raw, &status) == 0 {
            reply.space(limited(status))
        } else {
            reply.error(errno)
        }
    }
}
