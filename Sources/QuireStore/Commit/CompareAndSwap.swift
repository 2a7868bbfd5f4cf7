import CLinux
import Glibc
package import QuireCore

/// Whether a file has open handles.
package enum OpenState: Sendable, Hashable {
    case closed
    case reading
    /// Some handle is open for writing.
    case writing
}

/// What became of a compare-and-swap.
package enum CompareAndSwapOutcome: Sendable, Hashable {
    case done(CommittedChange)
    /// What is there is not what was expected; nothing was changed.
    case stale
    /// The item is open; nothing was changed.
    case busy

    /// As `LocalTreeCommitter` answers.
    package var result: LocalChangeResult {
        switch self {
        case .done(let change): .done(change.status)
        case .stale: .stale
        case .busy: .busy
        }
    }
}

/// A change that was made, with what its maker needs to bring its own tables in order.
package struct CommittedChange: Sendable, Hashable {
    /// What to record; has the base of the `LocalChange`.
    package var commit: StoreEvent.Commit
    /// What was at the path before; nil when nothing was.
    package var previous: FileStatus?
    /// The entry afterwards (for a move: at its destination); nil after a removal.
    package var status: FileStatus?
    /// Inode of the directory of the path.
    package var parent: UInt64
    /// Inode of the directory of a move's destination.
    package var destinationParent: UInt64?
}

/// Performs `LocalChange`s on a tree: look, compare, and one system call that changes.
package enum CompareAndSwap {
    /// Performs exactly one change, or none.
    ///
    /// The caller serialises this with everything else that changes the tree, and holds its lock across the call:
    /// between the look and the swap only a program that goes around the daemon can slip in (and where nothing is
    /// expected to be, not even that: the kernel checks). Short: a few system calls on the local filesystem, no fsync.
    ///
    /// | operation | expecting `.absent` | expecting `.fingerprint` |
    /// |---|---|---|
    /// | install | nothing there, or `.stale` | that file or link is replaced; `.stale` over a directory |
    /// | makeDirectory | nothing there, or `.stale` | EINVAL |
    /// | move, remove, setAttributes | EINVAL | that item, or `.stale` |
    ///
    /// A directory on the way that is missing, is no directory, or is not the one named by `within`, is `.stale`; so are a move's target that is taken
    /// and a directory that is not empty. Of a directory inode and kind are compared, and that it was not made since.
    /// A file that some process has open for writing is `.busy` where it would be replaced or removed, whatever `isOpen` says.
    /// - Parameter isOpen: answers for the item found; called at most once, under the caller's lock.
    /// - Throws: the errno of the system call that failed; nothing was changed then.
    package static func perform(
        _ tree: DriveTree, _ change: LocalChange, isOpen: (FileStatus) -> OpenState
    ) throws(LocalChangeError) -> CompareAndSwapOutcome {
        guard change.isMeaningful, let name = change.path.name else { throw change.failure(EINVAL, "plan") }
        guard let location = try resolve(tree, change.path, for: change) else { return .stale }
        let parent = try location.parentInode(change)
        let found = try change.call("look up") { () throws(StoreError) in try location.status(shown: change.path) }
        guard change.expecting.matches(found), !isMadeAnew(location, change, found) else { return .stale }
        if let found, isBusy(isOpen(found), change) { return .busy }
        let opened = try openDisplaced(found, location, change)
        defer { if let opened { close(opened) } }
        if let opened, isWrittenElsewhere(opened) { return .busy }
        let site = Site(change: change, parent: parent, name: name, found: found, opened: opened)
        guard let found, found.kind != .directory, found.linkCount > 1 else { return try perform(tree, location, site) }
        let raw = name.withCString { openat(location.directory.rawValue, $0, quire_O_PATH | O_NOFOLLOW | O_CLOEXEC) }
        guard raw >= 0 else { throw change.failure(errno, "look up") }
        let linked = OwnedDescriptor(owning: raw)
        guard case .done(var committed) = try perform(tree, location, site) else { return .stale }
        // What was opened so can be asked.
        committed.commit.otherNames = try? linked.status()
        return .done(committed)
    }

    /// The change itself; what was expected has been found.
    private static func perform(
        _ tree: DriveTree, _ location: borrowing DriveTree.Location, _ site: Site
    ) throws(LocalChangeError) -> CompareAndSwapOutcome {
        let change = site.change
        let isElsewhere = change.within.map { $0 != site.parent } ?? false
        switch change.operation {
        case .install(let stagedPath, let dataless):
            if isElsewhere { return .stale }
            return try install(location, site, stagedPath: stagedPath, dataless: dataless)
        case .makeDirectory(let mode, let mtime):
            if isElsewhere { return .stale }
            return try makeDirectory(location, site, mode: mode, mtime: mtime)
        case .move(let destination):
            guard let target = try resolve(tree, destination, for: change) else { return .stale }
            return try move(location, site, to: target)
        case .remove:
            return try remove(location, site)
        case .setAttributes(let mode, let mtime):
            return try setAttributes(location, site, mode: mode, mtime: mtime)
        }
    }

    /// What is known once the expectation was met.
    struct Site {
        let change: LocalChange
        let parent: UInt64
        let name: FileName
        let found: FileStatus?
        /// The file that is to be replaced or removed, open for reading until the change is made.
        let opened: Int32?

        func done(_ event: StoreEvent.Commit.Change, status: FileStatus?, destination: UInt64? = nil)
            -> CompareAndSwapOutcome
        {
            .done(
                CommittedChange(
                    commit: StoreEvent.Commit(event, base: change.base, basePlace: basePlace),
                    previous: found, status: status, parent: parent,
                    destinationParent: destination))
        }

        private var basePlace: StoreEvent.Commit.BasePlace {
            if change.isSameDocument { return .own }
            return change.within == nil ? .path : .directory
        }
    }

    /// Whether a directory is another than the expected one and has its inode number: made after that was last looked at.
    /// File systems without a birth time hand out numbers anew, too; there nothing tells.
    private static func isMadeAnew(
        _ location: borrowing DriveTree.Location, _ change: LocalChange, _ found: FileStatus?
    ) -> Bool {
        guard case .fingerprint(let expected) = change.expecting, found?.kind == .directory else { return false }
        let directory = location.directory.rawValue
        let raw = location.name.withCString {
            openat(directory, $0, quire_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard raw >= 0 else { return false }
        let opened = OwnedDescriptor(owning: raw)
        return quire_birth_time(opened.rawValue) > expected.ctime.nanoseconds
    }

    /// Opens the file that would be replaced or removed; nil where none would be, or where it must not be read.
    private static func openDisplaced(
        _ found: FileStatus?, _ location: borrowing DriveTree.Location, _ change: LocalChange
    ) throws(LocalChangeError) -> Int32? {
        guard found?.kind == .file else { return nil }
        switch change.operation {
        case .install, .remove: break
        case .makeDirectory, .move, .setAttributes: return nil
        }
        let directory = location.directory.rawValue
        let opened = location.name.withCString { openat(directory, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        if opened < 0, change.isEviction { throw change.failure(errno, "read the attributes of") }
        return opened < 0 ? nil : opened
    }

    /// Whether a program that goes around the daemon writes to the file that would be replaced or removed: what it still
    /// writes would be lost. So does one whose handle outlived a daemon that crashed, where the kernel passes it through.
    private static func isWrittenElsewhere(_ opened: Int32) -> Bool { quire_has_writers(opened) == 1 }

    private static func isBusy(_ state: OpenState, _ change: LocalChange) -> Bool {
        switch state {
        case .closed: false
        case .reading: change.refuseIfOpen
        case .writing: true
        }
    }

    /// Nil where the path's directory is not there.
    private static func resolve(_ tree: DriveTree, _ path: RelativePath, for change: LocalChange)
        throws(LocalChangeError) -> DriveTree.Location?
    {
        do {
            return try tree.location(of: path)
        } catch {
            if error.code == .notFound { return nil }
            throw change.failure(error.errno ?? EIO, "reach")
        }
    }
}

extension LocalChange {
    /// Whether operation and expectation fit each other.
    fileprivate var isMeaningful: Bool {
        switch (operation, expecting) {
        case (.install, _), (.makeDirectory, .absent): true
        case (.move, .fingerprint), (.remove, .fingerprint), (.setAttributes, .fingerprint): true
        case (.makeDirectory, .fingerprint), (.move, .absent), (.remove, .absent), (.setAttributes, .absent): false
        }
    }

    /// Whether a document's own placeholder takes the place of its content.
    var isEviction: Bool { if case .install(_, dataless: true) = operation { keepsContent } else { false } }

    func failure(_ errno: Int32, _ operation: String) -> LocalChangeError {
        LocalChangeError(errno: errno, path: path, operation: operation)
    }

    /// Runs `body`, its error as this module's callers expect it.
    func call<Result>(_ operation: String, _ body: () throws(StoreError) -> Result) throws(LocalChangeError) -> Result {
        do { return try body() } catch { throw failure(error.errno ?? EIO, operation) }
    }
}

extension LocalChange.Expectation {
    /// Whether `status` is what is expected.
    package func matches(_ status: FileStatus?) -> Bool {
        switch (self, status) {
        case (.absent, nil): true
        case (.absent, _?), (.fingerprint, nil): false
        case (.fingerprint(let expected), let status?) where expected.kind == .directory:
            status.kind == .directory && status.inode == expected.inode
        case (.fingerprint(let expected), let status?): status.fingerprint == expected
        }
    }
}

extension DriveTree.Location {
    fileprivate func parentInode(_ change: LocalChange) throws(LocalChangeError) -> UInt64 {
        do { return try directory.status().inode } catch { throw change.failure(error.errno ?? EIO, "look up") }
    }
}
