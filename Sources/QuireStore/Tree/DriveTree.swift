import CLinux
import Glibc
package import QuireCore

/// A directory tree, worked on by paths relative to its root; usually the store (`home/drive`).
///
/// Each path is walked name by name from the root's descriptor: no link on the way is followed, nothing outside the
/// root is reached, and a path may be longer than PATH_MAX. Every call blocks on the local filesystem only and may run
/// on any thread; descriptors it needs are closed when it returns.
///
/// A link or a file in the middle of a path is `.notFound`: nothing is at that path.
package final class DriveTree: Sendable {
    /// The root's absolute path, as given.
    package let rootPath: String
    private let root: OwnedDescriptor

    /// Opens the root directory; it stays the same directory when it is renamed.
    package init(opening rootPath: String) throws(StoreError) {
        self.rootPath = rootPath
        self.root = try OwnedDescriptor.open(rootPath, quire_O_PATH | O_DIRECTORY)
    }

    /// What is available on its file system, in bytes; nil where the root is gone.
    package var availableBytes: Int64? {
        var space = statvfs()
        guard statvfs(rootPath, &space) == 0 else { return nil }
        return Int64(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize))
    }

    /// Where an entry lies: the open directory and the entry's name in it.
    package struct Location: ~Copyable, Sendable {
        /// Opened with O_PATH.
        package let directory: OwnedDescriptor
        package let name: FileName
    }

    /// The directory at `path`, opened with O_PATH (good for the *at calls and `fstat`).
    package func directory(_ path: RelativePath) throws(StoreError) -> OwnedDescriptor {
        let names = path.components
        guard let first = names.first else { return try openDirectory(in: root.rawValue, ".", path) }
        var current = try openDirectory(in: root.rawValue, first, path)
        for name in names.dropFirst() { current = try openDirectory(in: current.rawValue, name, path) }
        return current
    }

    /// The directory that holds the entry at `path`, which itself need not be there.
    ///
    /// - Throws: `.wrongKind` (EINVAL) for the root, which no directory holds.
    package func location(of path: RelativePath) throws(StoreError) -> Location {
        guard let parent = path.parent, let name = path.name else {
            throw StoreError(.wrongKind, "the root of \(rootPath) cannot be changed", errno: EINVAL)
        }
        return Location(directory: try directory(parent), name: name)
    }

    /// What lstat says of `path`; nil when nothing is there.
    package func status(at path: RelativePath) throws(StoreError) -> FileStatus? {
        guard !path.isRoot else { return try root.status() }
        do {
            let location = try location(of: path)
            return try location.status(shown: path)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// What lstat says of `path`, where something must be.
    package func requiredStatus(at path: RelativePath) throws(StoreError) -> FileStatus {
        guard let status = try status(at: path) else { throw StoreError(errno: ENOENT, "find", path.description) }
        return status
    }

    /// When the file at `path` was last read or written, as far as its file system keeps that: most note a reading once a day.
    /// Nil when nothing is there.
    package func lastUse(of path: RelativePath) -> FileTime? {
        var raw = stat()
        guard let location = try? location(of: path),
            location.name.withCString({ fstatat(location.directory.rawValue, $0, &raw, AT_SYMLINK_NOFOLLOW) }) == 0
        else { return nil }
        return max(
            FileTime(seconds: raw.st_atim.tv_sec, nanoseconds: raw.st_atim.tv_nsec), FileStatus(raw).mtime)
    }

    /// Opens the entry at `path` with the given flags; never follows a link at its end. O_CLOEXEC is added.
    package func open(_ path: RelativePath, _ flags: Int32, mode: UInt16 = 0) throws(StoreError) -> OwnedDescriptor {
        guard !path.isRoot else {
            return OwnedDescriptor(
                owning: try systemCall("open", rootPath) { openat(root.rawValue, ".", flags | O_CLOEXEC) })
        }
        return try location(of: path).open(flags, mode: mode, shown: path)
    }

    /// Opens the regular file at `path` for reading, which is no use of the document (`lastUse`) where its owner asks.
    ///
    /// - Throws: `.wrongKind` for anything but a regular file (a FIFO is not waited for); `.notFound` also for a link.
    package func openForReading(_ path: RelativePath) throws(StoreError) -> OwnedDescriptor {
        guard !path.isRoot else { throw StoreError(.wrongKind, "\(path) is not a regular file") }
        return try location(of: path).openForReading(shown: path)
    }

    /// Writes a directory's entries through to the disk.
    package func syncDirectory(_ path: RelativePath) throws(StoreError) {
        let directory = try open(path, O_RDONLY | O_DIRECTORY)
        try directory.sync(path.description)
    }

    private func openDirectory(in parent: Int32, _ name: FileName, _ path: RelativePath) throws(StoreError)
        -> OwnedDescriptor
    {
        let descriptor = try systemCall("enter \(name) of", path.description) {
            name.withCString { openat(parent, $0, Self.walkFlags) }
        }
        return OwnedDescriptor(owning: descriptor)
    }

    private func openDirectory(in parent: Int32, _ name: String, _ path: RelativePath) throws(StoreError)
        -> OwnedDescriptor
    {
        OwnedDescriptor(owning: try systemCall("enter", path.description) { openat(parent, name, Self.walkFlags) })
    }

    private static let walkFlags = quire_O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC
}

extension DriveTree.Location {
    fileprivate func open(_ flags: Int32, mode: UInt16 = 0, shown path: RelativePath) throws(StoreError)
        -> OwnedDescriptor
    {
        let all = flags | O_NOFOLLOW | O_CLOEXEC
        let descriptor = try systemCall("open", path.description) {
            name.withCString { openat(directory.rawValue, $0, all, mode_t(mode)) }
        }
        return OwnedDescriptor(owning: descriptor)
    }

    /// As `DriveTree.openForReading`.
    func openForReading(shown path: RelativePath) throws(StoreError) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(StoreError) {
            file = try open(O_RDONLY | O_NONBLOCK | quire_O_NOATIME, shown: path)
        } catch {
            guard error.errno == EPERM else { throw error }
            file = try open(O_RDONLY | O_NONBLOCK, shown: path)
        }
        guard try file.status().kind == .file else {
            throw StoreError(.wrongKind, "\(path) is not a regular file")
        }
        return file
    }

    /// What lstat says of the entry; nil when there is none.
    package func status(shown path: RelativePath) throws(StoreError) -> FileStatus? {
        var raw = stat()
        do {
            try systemCall("read the attributes of", path.description) {
                name.withCString { fstatat(directory.rawValue, $0, &raw, AT_SYMLINK_NOFOLLOW) }
            }
        } catch {
            guard error.errno == ENOENT else { throw error }
            return nil
        }
        return FileStatus(raw)
    }
}
