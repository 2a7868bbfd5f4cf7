import CLinux
import Glibc
import Logging
package import QuireCore

/// The directory where downloads, placeholders and snapshots are made before they are renamed into place or uploaded.
///
/// It lies on the store's filesystem. Everything in it is worthless after the daemon ended, and swept at the next
/// start.
package struct Staging: Sendable {
    /// Absolute path of the directory.
    package let path: String

    package init(path: String) { self.path = path }

    /// A path in the directory that nothing has: 128 random bits after `purpose` (ASCII letters).
    package func uniquePath(_ purpose: String = "staged") -> String {
        let digits = [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)].map { String($0, radix: 36) }
        return "\(path)/\(purpose)-\(digits[0])\(digits[1])"
    }

    /// Creates an empty file, mode 0600, open for reading and writing.
    package func createFile(_ purpose: String = "staged") throws(StoreError) -> StagedFile {
        let path = uniquePath(purpose)
        let descriptor = try OwnedDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        return StagedFile(path: path, descriptor: descriptor)
    }

    /// Creates an empty file to install, with its attributes, written through to the disk.
    ///
    /// - Returns: its absolute path.
    package func createEmpty(mtime: FileTime, mode: UInt16) throws(StoreError) -> String {
        let path = try createFile("empty").keep()
        do throws(StoreError) {
            try finish(path, mtime: mtime, mode: mode)
        } catch {
            discard(path)
            throw error
        }
        return path
    }

    /// Creates a symlink to install, with its modification time.
    ///
    /// - Returns: its absolute path.
    package func createLink(target: [UInt8], mtime: FileTime) throws(StoreError) -> String {
        let path = uniquePath("link")
        try systemCall("create the link", path) { cString(target) { symlink($0, path) } }
        do {
            let times = [mtime.timespec, mtime.timespec]
            try systemCall("set the time of", path) { utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) }
        } catch {
            discard(path)
            throw error
        }
        return path
    }

    /// Sets the attributes of a file that was fetched here and writes it through to the disk, ready to install.
    package func finish(_ path: String, mtime: FileTime, mode: UInt16) throws(StoreError) {
        let file = try OwnedDescriptor.open(path, O_RDWR | O_NOFOLLOW)
        try file.setMode(mode, path)
        try file.setModificationTime(mtime, path)
        try file.sync(path)
    }

    /// Writes files that were made here through to the disk, with their attributes.
    ///
    /// Many at one go, by writing through the whole file system: to a disk, each fsync alone is a round trip.
    package func writeThrough(_ paths: [String]) throws(StoreError) {
        guard paths.count > Self.fewFiles else {
            for path in paths { try OwnedDescriptor.open(path, O_RDONLY | O_NOFOLLOW).sync(path) }
            return
        }
        let directory = try OwnedDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        try systemCall("write through", path) { quire_syncfs(directory.rawValue) }
    }

    /// So many are not worth writing through what else the file system has to write.
    private static let fewFiles = 3

    /// Removes a staged file that is not needed any more; nothing happens when it is gone.
    package func discard(_ path: String) {
        if unlink(path) != 0, errno != ENOENT {
            Logger(label: "quire.store").info(
                "cannot remove a staged file", metadata: ["path": "\(path)", "errno": "\(errno)"])
        }
    }

    /// Removes all that an earlier daemon left here; called once at start, under the home's lock.
    ///
    /// - Returns: how many entries were removed.
    @discardableResult
    package func sweep() throws(StoreError) -> Int {
        let tree = try DriveTree(opening: path)
        return try Self.removeContents(of: .root, in: tree)
    }

    private static func removeContents(of directory: RelativePath, in tree: DriveTree) throws(StoreError) -> Int {
        var removed = 0
        for entry in try tree.list(directory) {
            let path = directory.appending(entry.name)
            if entry.status.kind == .directory { removed += try removeContents(of: path, in: tree) }
            try tree.remove(path)
            removed += 1
        }
        return removed
    }
}

/// A file in the staging directory that is removed again unless it is kept.
package struct StagedFile: ~Copyable, Sendable {
    /// Absolute path.
    package let path: String
    /// Open for reading and writing.
    package let descriptor: OwnedDescriptor
    private var isKept = false

    init(path: String, descriptor: consuming OwnedDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit {
        if !isKept { unlink(path) }
    }

    /// Closes the file and leaves it where it is.
    ///
    /// - Returns: its absolute path; the caller removes or renames it.
    package consuming func keep() -> String {
        isKept = true
        return path
    }
}
