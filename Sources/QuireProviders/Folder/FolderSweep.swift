import Glibc
import QuireCore

/// Removes what crashes left in `.quire/tmp`.
enum FolderSweep {
    /// Younger entries may belong to a call that is under way on another device.
    static let age: Int64 = 24 * 3600 * 1_000_000_000

    /// Removes entries that were last touched more than a day before `now` and that nobody has locked. Bytes that are
    /// neither our own upload nor the version it displaced go to `.quire/kept`.
    ///
    /// What cannot be removed now is left for the next time.
    static func run(_ session: borrowing FolderSession, now: FileTime, _ versions: FolderVersion = FolderVersion()) {
        let directory = session.temporary.descriptor
        for name in names(in: directory) {
            guard let found = try? SystemCalls.status(at: directory, name), isOld(found.ctime, now: now) else {
                continue
            }
            if found.kind == .directory {
                try? SystemCalls.removeDirectory(at: directory, name)
            } else if found.kind == .file, isLocked(name, in: directory) {
                continue
            } else if isDisposable(name, found, versions) {
                try? SystemCalls.unlink(at: directory, name)
            } else {
                _ = try? keep(name, session)
            }
        }
    }

    /// Whether more than `age` passed between the two. A time that is clamped, as that of a share which tells none, says
    /// nothing.
    static func isOld(_ touched: FileTime, now: FileTime) -> Bool {
        let (passed, overflow) = now.nanoseconds.subtractingReportingOverflow(touched.nanoseconds)
        return !overflow && passed > age
    }

    /// Moves an entry of `tmp` to `.quire/kept`, where nothing is ever removed; answers where it is now.
    static func keep(_ name: FileName, _ session: borrowing FolderSession) throws(ProviderError) -> RelativePath {
        let kept = try FolderSession.subdirectory(FolderLayout.kept, of: session.control)
        let (from, to) = (session.temporary.descriptor, kept.descriptor)
        let path = FolderSession.controlPath(FolderLayout.kept).appending(name)
        try ErrnoTranslation.about(path, "kept") { () throws(SystemFailure) in
            try SystemCalls.rename((from, name), to: (to, name))
            try SystemCalls.sync(to)
        }
        return path
    }

    private static func isDisposable(_ name: FileName, _ found: FileFacts, _ versions: FolderVersion) -> Bool {
        guard name.bytes.starts(with: "swap-".utf8) else { return name.bytes.starts(with: "put-".utf8) }
        guard let meant = FolderLayout.parseSwapName(name) else { return false }
        return versions.inodesStay && found.inode == meant.staged || versions.version(of: found) == meant.version
    }

    private static func isLocked(_ name: FileName, in directory: Int32) -> Bool {
        guard let file = try? SystemCalls.open(at: directory, name, O_RDONLY | O_NONBLOCK) else { return false }
        return flock(file.descriptor, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK
    }

    private static func names(in directory: Int32) -> [FileName] {
        var names: [FileName] = []
        try? DirectoryNames.forEach(in: directory) { name in
            names.append(FileName(unchecked: Array(DirectoryNames.bytes(of: name))))
        }
        return names
    }
}
