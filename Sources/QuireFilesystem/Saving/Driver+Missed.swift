import CFuse
import CLinux
import Glibc
import Logging
import QuireCoordination
import QuireCore
import QuireStore

/// A program that saves a document writes what it has read, with its changes. What an app or another device wrote since, and
/// the program has not read, would be gone: it is kept beside the document, as a version in conflict with it. Between
/// programs that do not coordinate the rules of POSIX hold.
extension Driver {
    /// A document is opened, emptied or written through a handle.
    func noteUse(_ file: OpenFile, _ status: stat, truncates: Bool) {
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        if mustAskCoordinator { seen.begin() }
        guard seen.isInUse else {
            if file.opensForReading { seen.noteSight(of: place(of: file.node), status, by: file.thread) }
            return
        }
        let sees = truncates || file.opensForReading
        note(file.node, status, file.claim, by: file.thread, sees: sees, changes: file.isWriter)
    }

    /// A document was emptied by its path.
    func noteEmptying(of node: Node, _ status: stat, _ claim: HeldClaim?, by thread: pid_t) {
        guard seen.isInUse else { return }
        note(node, status, claim, by: thread, sees: true, changes: true)
    }

    /// Notes a change where somebody coordinates, a sight where not.
    private func note(
        _ node: Node, _ status: stat, _ claim: HeldClaim?, by thread: pid_t, sees: Bool, changes: Bool
    ) {
        guard let place = place(of: node) else { return }
        if claim?.isCovered == true {
            if changes { seen.noteChange(at: place) }
        } else if sees {
            seen.noteSight(of: place, status, by: thread)
        }
    }

    /// A handle that wrote is closed.
    func noteWritten(_ file: OpenFile) {
        guard file.claim?.isCovered == true, let place = place(of: file.node) else { return }
        seen.noteChange(at: place)
    }

    /// Another file is in the place of a document.
    func noteReplacement(of entry: Entry, _ claim: HeldClaim?, _ status: stat, by thread: pid_t) {
        if mustAskCoordinator { seen.begin() }
        guard seen.isInUse else { return }
        let place = place(of: entry)
        if claim?.isCovered == true {
            seen.noteChange(at: place)
        } else {
            seen.noteSight(of: place, status, by: thread)
        }
    }

    /// What another device has written, or moved, is in the place of a document.
    func noteArrival(at path: RelativePath, in directory: UInt64) {
        if let name = path.name { seen.noteChange(at: SeenContents.Place(directory, name)) }
    }

    /// Keeps the document at `entry` where the program that is about to take it away has missed what others wrote. Call
    /// inside the gate.
    ///
    /// - Returns: what presenters are to be told; nil where the content must be fetched first.
    /// - Throws: what kept it from being kept.
    func keepMissed(_ entry: Entry, _ claim: HeldClaim?, by thread: pid_t) throws(DriverError) -> UntoldChange? {
        guard seen.isInUse, claim?.isCovered != true else { return .nothing }
        let directory = try resolver.directory(entry.directory)
        guard var status = try StoreCall.statusIfAny(in: directory, entry.name) else { return .nothing }
        return try keepMissed(entry, &status, in: directory, claim, by: thread)
    }

    /// The same where its status is known already.
    ///
    /// - Parameter status: also afterwards, when it has a name more.
    func keepMissed(
        _ entry: Entry, _ status: inout stat, in directory: Descriptor, _ claim: HeldClaim?, by thread: pid_t
    ) throws(DriverError) -> UntoldChange? {
        guard seen.isInUse, claim?.isCovered != true, status.st_mode & S_IFMT == S_IFREG,
            hasMissed(status, at: place(of: entry), thread)
        else { return .nothing }
        if try isDataless(entry.name, in: directory.raw, status) { return nil }
        // The file itself stays, under another name.
        let copy = try makeCopy(of: entry.name) { copy in
            entry.name.withCString { old in
                copy.withCString { new in linkat(directory.raw, old, directory.raw, new, 0) }
            }
        }
        let kept = Entry(directory: entry.directory, name: copy)
        table.locked { state in
            let node = state.byInode[status.inode]
            node?.addName(kept)
            // By the document's name nobody is to find it any more.
            node?.takeAway(from: entry)
        }
        status = try StoreCall.status(in: directory, copy)
        return enterCopy(kept, status)
    }

    /// Copies what is to be kept of a document before a program empties it, which takes as long as the document is large: not
    /// to be called inside the gate, where the whole drive would wait.
    func spare(beforeEmptying node: Node, _ claim: HeldClaim?, by thread: pid_t) throws(DriverError) -> SparedContent {
        let status = try resolver.status(node)
        guard let entry = missed(node, status, claim, by: thread), try !isDataless(node) else { return .nothing }
        let fingerprint = FileStatus(status).fingerprint
        // It is copied inside, as long as a later change may not be seen.
        guard !fingerprint.isRacy(takenAt: WallClock.now()) else { return .nothing }
        let source = try resolver.open(node, O_RDONLY)
        let directory = try resolver.directory(entry.directory)
        let raw = openat(directory.raw, ".", O_WRONLY | quire_O_TMPFILE | O_CLOEXEC, status.st_mode & 0o777)
        guard raw >= 0 else {
            // A file system that has no files under no name.
            guard errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else { throw DriverError.last() }
            return .nothing
        }
        let copy = Descriptor(owning: raw)
        try Self.copy(source, status, to: copy, keepsOwner: runsAsRoot)
        try StoreCall.check(fsync(copy.raw))
        return .copy(copy, fingerprint)
    }

    /// The same where the program empties the document: its content is copied, and on disk before that is done.
    ///
    /// - Parameter spared: what was copied before, of use where the document is as it was then.
    func keepMissed(
        beforeEmptying node: Node, _ status: stat, _ claim: HeldClaim?, by thread: pid_t, _ spared: SparedContent
    ) throws(DriverError) -> UntoldChange {
        guard let entry = missed(node, status, claim, by: thread) else { return .nothing }
        let directory = try resolver.directory(entry.directory)
        let name: FileName
        if case .copy(let copy, FileStatus(status).fingerprint) = spared {
            name = try makeCopy(of: entry.name) { name in
                name.withCString { linkat(AT_FDCWD, copy.proc, directory.raw, $0, AT_SYMLINK_FOLLOW) }
            }
            try flush(copy, name, in: entry.directory, directory)
        } else {
            let source = try resolver.open(node, O_RDONLY)
            var raw: CInt = -1
            name = try makeCopy(of: entry.name) { copy in
                raw = copy.withCString {
                    openat(directory.raw, $0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0o777)
                }
                return raw
            }
            let copy = Descriptor(owning: raw)
            try flush(copy, name, in: entry.directory, directory) { () throws(DriverError) in
                try Self.copy(source, status, to: copy, keepsOwner: runsAsRoot)
            }
        }
        return enterCopy(
            Entry(directory: entry.directory, name: name), try StoreCall.status(in: directory, name))
    }

    /// The same where it is emptied by its path.
    ///
    /// - Returns: what presenters are to be told; nil where the content must be fetched, or copied, first.
    func keepMissed(
        beforeEmptying node: Node, _ claim: HeldClaim?, by thread: pid_t, _ spared: SparedContent
    ) throws(DriverError) -> UntoldChange? {
        guard seen.isInUse else { return .nothing }
        let status = try resolver.status(node)
        if try mustPrepare(emptying: node, status, claim, by: thread, spared, isDataless: try isDataless(node)) {
            return nil
        }
        return try keepMissed(beforeEmptying: node, status, claim, by: thread, spared)
    }

    /// Makes a file that is to be kept, and writes it and its name through; removes it where that fails.
    private func flush(
        _ file: Descriptor, _ name: FileName, in node: Node, _ directory: Descriptor,
        after make: () throws(DriverError) -> Void = {}
    ) throws(DriverError) {
        do throws(DriverError) {
            try make()
            try flush(file, in: node)
        } catch {
            _ = name.withCString { unlinkat(directory.raw, $0, 0) }
            throw error
        }
    }

    /// Writes a file and its name through.
    private func flush(_ file: Descriptor, in directory: Node) throws(DriverError) {
        let names: Descriptor
        do throws(DriverError) {
            names = try resolver.open(directory, O_RDONLY | O_DIRECTORY)
        } catch {
            // A directory that may be written to and not be listed.
            guard error.errno == EACCES else { throw error }
            return try StoreCall.check(quire_syncfs(file.raw))
        }
        try StoreCall.check(fsync(file.raw))
        try StoreCall.check(fsync(names.raw))
    }

    /// Whether the content of a document that a program is about to empty has to be fetched, or copied, first: it is kept.
    func mustPrepare(
        emptying node: Node, _ status: stat, _ claim: HeldClaim?, by thread: pid_t, _ spared: SparedContent,
        isDataless: @autoclosure () throws(DriverError) -> Bool
    ) throws(DriverError) -> Bool {
        guard missed(node, status, claim, by: thread) != nil else { return false }
        if case .untried = spared { return true }
        return try isDataless()
    }

    /// Waits as `parkForContent`, and where the document is about to be emptied spares what is to be kept of it; then goes on.
    func parkForSparing(
        _ reply: consuming Reply, _ node: Node, isEmptied: Bool, _ claim: HeldClaim?,
        then operation: @escaping @Sendable (Driver, consuming Reply, SparedContent) -> Void
    ) {
        let thread = reply.caller.pid
        parkForContent(reply, node) { driver, reply in
            do throws(DriverError) {
                let spared = isEmptied ? try driver.spare(beforeEmptying: node, claim, by: thread) : .untried
                operation(driver, reply, spared)
            } catch {
                reply.error(error.errno)
            }
        }
    }

    /// Where a document is of which the program has missed what others wrote; nil where it has not.
    private func missed(_ node: Node, _ status: stat, _ claim: HeldClaim?, by thread: pid_t) -> Entry? {
        guard seen.isInUse, claim?.isCovered != true, status.st_mode & S_IFMT == S_IFREG,
            let entry = table.locked({ _ in node.latestName }), hasMissed(status, at: place(of: entry), thread)
        else { return nil }
        return entry
    }

    private static func copy(
        _ source: Descriptor, _ status: stat, to target: Descriptor, keepsOwner: Bool
    ) throws(DriverError) {
        if quire_ficlone(target.raw, source.raw) != 0 {
            var (from, to) = (Int64(0), Int64(0))
            while from < Int64(status.st_size) {
                let count = quire_copy_file_range(
                    source.raw, &from, target.raw, &to, Int(clamping: Int64(status.st_size) - from))
                guard count >= 0 else { throw DriverError.last() }
                if count == 0 { break }
            }
        }
        if keepsOwner { try StoreCall.check(fchown(target.raw, status.st_uid, status.st_gid)) }
        try StoreCall.check(futimens(target.raw, [status.st_atim, status.st_mtim]))
    }

    /// Records a conflict copy that was made.
    private func enterCopy(_ copy: Entry, _ status: stat) -> UntoldChange {
        record(.created(parent: directoryInode(copy.directory), name: copy.name, FileStatus(status)))
        contentsChanged(copy.directory)
        notifier.entryChanged(in: table.identifier(copy.directory), copy.name)
        logger.info(
            "what a program had not read is kept as a version in conflict", metadata: ["copy": "\(copy.name)"])
        return enterAppearance(copy.name, in: copy.directory, nil, 0)
            + enterVersion(.gained, copy.name, in: copy.directory)
    }

    private func hasMissed(_ status: stat, at place: SeenContents.Place, _ thread: pid_t) -> Bool {
        // Asked for only where the document was changed by others.
        lazy var process = ThreadOwner.process(of: thread)
        return seen.hasMissed(status, at: place) { $0 == thread || ThreadOwner.isThread($0, of: process) }
    }

    /// The first name of a conflict copy that `make` is able to give; it fails with EEXIST where there is one already.
    private func makeCopy(of name: FileName, _ make: (FileName) -> CInt) throws(DriverError) -> FileName {
        let names = ConflictName.candidates(original: name, date: Self.today(), device: services.deviceName)
        for copy in names {
            if make(copy) >= 0 { return copy }
            guard errno == EEXIST else { throw DriverError.last() }
        }
        // Better that the program cannot save than that somebody's work is gone.
        throw DriverError(EBUSY)
    }

    private static func today() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return FileTime(seconds: now.tv_sec, nanoseconds: now.tv_nsec).localDay
    }

    private func place(of entry: Entry) -> SeenContents.Place {
        SeenContents.Place(directoryInode(entry.directory), entry.name)
    }

    private func place(of node: Node) -> SeenContents.Place? {
        table.locked { _ in node.latestName.map { SeenContents.Place($0.directory.inode, $0.name) } }
    }
}

/// What was made ready of a document that is to be kept before it is emptied.
enum SparedContent: Sendable {
    /// It was not looked whether anything is to be kept.
    case untried
    case nothing
    /// Its content, on disk under no name, and what the document was like.
    case copy(Descriptor, Fingerprint)
}
