/// A change that the sync engine wants made to the store, as one compare-and-swap (design §5, "No waiting on oneself").
package struct LocalChange: Sendable, Hashable {
    package enum Operation: Sendable, Hashable {
        /// Rename the staged file, symlink or placeholder at this absolute path to `path`, replacing what is there.
        case install(stagedPath: String, dataless: Bool)
        case makeDirectory(mode: UInt16, mtime: FileTime)
        /// Move the entry at `path` to `destination`, where nothing may be.
        case move(to: RelativePath)
        /// Remove a file, a symlink, or an empty directory.
        case remove
        /// Set mtime and mode.
        case setAttributes(mode: UInt16?, mtime: FileTime)
    }

    /// What must be at `path` at the moment of the swap.
    package enum Expectation: Sendable, Hashable {
        case absent
        /// This fingerprint, and no open write handle. Of directories inode and kind are compared, and that it was not made
        /// after the fingerprint's ctime.
        case fingerprint(Fingerprint)
    }

    /// Below the drive's root.
    package var path: RelativePath
    package var operation: Operation
    package var expecting: Expectation
    /// What the provider has, for the index to record with the change.
    package var base: BaseRecord?
    /// Refuse also when the file is open for reading (eviction).
    package var refuseIfOpen: Bool
    /// Inode of the directory that what is installed, made or moved is to lie in; nil for whatever is at that path.
    package var within: UInt64?
    /// What is installed is the same version of the same document: its content comes here or goes (a download, an eviction).
    package var keepsContent: Bool
    /// What is installed is of the same document, of whichever version: `base` lies where the document's base is by then.
    package var isSameDocument: Bool
    /// It is made without a claim, as nobody coordinated when it was begun: `.busy` where somebody does by the moment of the swap,
    /// who may have been granted the item since.
    package var yieldsToApps = false

    package init(
        path: RelativePath, _ operation: Operation, expecting: Expectation, base: BaseRecord?,
        refuseIfOpen: Bool = false, within: UInt64? = nil, keepsContent: Bool = false, isSameDocument: Bool = false
    ) {
        self.path = path
        self.operation = operation
        self.expecting = expecting
        self.base = base
        self.refuseIfOpen = refuseIfOpen
        self.within = within
        self.keepsContent = keepsContent
        self.isSameDocument = isSameDocument
    }
}

/// What became of a `LocalChange`.
package enum LocalChangeResult: Sendable, Hashable {
    /// Done, and its event is queued.
    case done(FileStatus?)
    /// What is there is not what was expected: nothing was changed; plan anew.
    case stale
    /// The item has an open write handle (or any handle, for an eviction): nothing was changed; try later.
    case busy
}

/// Makes the sync engine's changes to the store. The driver is one (it also tells the kernel); the bare store is another.
package protocol LocalTreeCommitter: Sendable {
    /// Performs one change; short, blocking only on the local filesystem; never called with a lock held. A claim may be:
    /// programs that wait for one are in nobody's way.
    ///
    /// The event of a change that was done is recorded before this returns. Durable once it returns: the directory is
    /// fsynced for `.install` of content.
    /// - Throws: the errno of the system call that failed, as `LocalChangeError`; nothing was changed then.
    func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult

    /// Whether some handle of the file with this inode is open for writing.
    func isOpenForWriting(inode: UInt64) -> Bool

    /// Returns when programs see all changes committed before the call: the kernel forgot what it had cached of them.
    func changesVisible() async

    /// Whether programs make many requests just now. Who has work that nobody waits for does well to let them go first.
    var isBusy: Bool { get }
}

/// A system call failed in `LocalTreeCommitter`.
package struct LocalChangeError: Error, Sendable {
    package var errno: Int32
    package var path: RelativePath
    package var operation: String

    package init(errno: Int32, path: RelativePath, operation: String) {
        self.errno = errno
        self.path = path
        self.operation = operation
    }
}
