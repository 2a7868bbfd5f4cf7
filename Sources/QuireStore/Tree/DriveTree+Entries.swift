import CLinux
import Glibc
package import QuireCore

/// One entry of a directory, with its attributes.
package struct DirectoryEntry: Sendable, Hashable {
    package var name: FileName
    package var status: FileStatus
}

extension DriveTree {
    /// The entries of a directory in the filesystem's order, without `.` and `..`.
    ///
    /// An entry that goes away while the listing runs is left out.
    /// - Throws: `.notFound` where there is no directory; `.permissionDenied`.
    package func list(_ path: RelativePath) throws(StoreError) -> [DirectoryEntry] {
        let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
        let names = try Self.names(in: descriptor, shown: path)
        var entries: [DirectoryEntry] = []
        entries.reserveCapacity(names.count)
        for name in names {
            var raw = stat()
            let result = name.withCString { fstatat(descriptor.rawValue, $0, &raw, AT_SYMLINK_NOFOLLOW) }
            if result == 0 {
                entries.append(DirectoryEntry(name: name, status: FileStatus(raw)))
            } else if errno != ENOENT {
                throw StoreError(errno: errno, "read the attributes of", path.appending(name).description)
            }
        }
        return entries
    }

    /// The bytes that the symlink at `path` holds. `.wrongKind` where something else is there.
    package func readLink(_ path: RelativePath) throws(StoreError) -> [UInt8] {
        let location = try location(of: path)
        var buffer = [CChar](repeating: 0, count: 256)
        while true {
            let count = location.name.withCString { name in
                readlinkat(location.directory.rawValue, name, &buffer, buffer.count)
            }
            if count < 0, errno == EINVAL {
                throw StoreError(.wrongKind, "\(path) is not a symlink", errno: EINVAL)
            }
            if count < 0 { throw StoreError(errno: errno, "read the link", path.description) }
            if count < buffer.count { return buffer.prefix(count).map { UInt8(bitPattern: $0) } }
            buffer = [CChar](repeating: 0, count: buffer.count * 4)
        }
    }

    /// Creates an empty file where nothing is, open for reading and writing. The umask applies.
    package func createFile(_ path: RelativePath, mode: UInt16 = 0o600) throws(StoreError) -> OwnedDescriptor {
        try open(path, O_RDWR | O_CREAT | O_EXCL, mode: mode)
    }

    /// Creates a directory where nothing is. The umask applies.
    package func createDirectory(_ path: RelativePath, mode: UInt16 = 0o755) throws(StoreError) {
        let location = try location(of: path)
        try systemCall("create the directory", path.description) {
            location.name.withCString { mkdirat(location.directory.rawValue, $0, mode_t(mode)) }
        }
    }

    /// Creates a symlink where nothing is.
    package func createLink(_ path: RelativePath, target: [UInt8]) throws(StoreError) {
        let location = try location(of: path)
        try systemCall("create the link", path.description) {
            location.name.withCString { name in
                cString(target) { symlinkat($0, location.directory.rawValue, name) }
            }
        }
    }

    /// Removes a file, a link, or an empty directory.
    package func remove(_ path: RelativePath) throws(StoreError) {
        let location = try location(of: path)
        let isDirectory = try location.status(shown: path)?.kind == .directory
        try systemCall("remove", path.description) {
            location.name.withCString { unlinkat(location.directory.rawValue, $0, isDirectory ? AT_REMOVEDIR : 0) }
        }
    }

    /// Renames where nothing may be at the target (`.alreadyExists`).
    package func rename(_ source: RelativePath, to target: RelativePath) throws(StoreError) {
        let from = try location(of: source)
        let to = try location(of: target)
        try systemCall("rename \(source) to", target.description) {
            RenameCall.withoutReplace(from.directory.rawValue, from.name.bytes, to.directory.rawValue, to.name.bytes)
        }
    }

    private static func names(in descriptor: borrowing OwnedDescriptor, shown path: RelativePath) throws(StoreError)
        -> [FileName]
    {
        // fdopendir takes over the descriptor it is given, and reads from its offset.
        let copy = try systemCall("list", path.description) { fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 0) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw StoreError(errno: code, "list", path.description)
        }
        defer { closedir(stream) }
        var names: [FileName] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // The record is shorter than `dirent`, so only its name's bytes are read.
            let start = UnsafeRawPointer(entry) + nameOffset
            let bytes = UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self)))
            if let name = FileName(bytes) { names.append(name) }
        }
        guard errno == 0 else { throw StoreError(errno: errno, "list", path.description) }
        return names
    }

    /// Of `d_name` in `struct dirent` of 64-bit Linux: inode 8, offset 8, length 2, type 1.
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 19
}

/// The rename calls, on directory descriptors and names' bytes; each answers as the system call does.
enum RenameCall {
    static func replacing(_ from: Int32, _ source: [UInt8], _ to: Int32, _ target: [UInt8]) -> Int32 {
        cString(source) { source in cString(target) { renameat(from, source, to, $0) } }
    }

    static func withoutReplace(_ from: Int32, _ source: [UInt8], _ to: Int32, _ target: [UInt8]) -> Int32 {
        cString(source) { source in cString(target) { quire_renameat2(from, source, to, $0, quire_RENAME_NOREPLACE) } }
    }
}
