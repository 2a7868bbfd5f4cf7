import CLinux
import Glibc
import QuireCore

/// Reads directories of the real store, without following symlinks, at any depth.
struct StoreLister: Sendable {
    /// An entry of a directory.
    struct Entry {
        var name: [UInt8]
        var status: FileStatus
    }

    /// What is at a place.
    enum Place {
        case nothing
        case entry(FileStatus)
        /// That cannot be told: neither that something is there nor that nothing is.
        case unknown(errno: Int32)
    }

    /// What is in a directory.
    struct Listing {
        var entries: [Entry] = []
        /// The names of what is there and cannot be looked at.
        var unread: [[UInt8]] = []
        /// Of the first of these.
        var errno: Int32 = 0
    }

    /// Absolute path of the drive's directory.
    let root: String
    var calls = StoreCalls()

    /// The status of the drive's directory; nil when it is not there.
    func rootStatus() -> FileStatus? {
        var status = stat()
        guard lstat(root, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        return FileStatus(status)
    }

    /// The system's word for the file system that the drive's directory is on; nil where it has none.
    func filesystem() -> String? {
        var found = statfs()
        guard statfs(root, &found) == 0 else { return nil }
        let (high, low) = (found.f_fsid.__val.0, found.f_fsid.__val.1)
        return high == 0 && low == 0 ? nil : "\(high).\(low)"
    }

    /// What is at `path`.
    func look(at path: RelativePath) -> Place {
        var status = stat()
        let result: Int32
        if let name = path.name, let parent = path.parent {
            guard let directory = open(parent) else { return Self.absence(errno) }
            defer { close(directory) }
            result = name.withCString { calls.status(directory, $0, &status) }
        } else {
            result = calls.status(AT_FDCWD, root, &status)
        }
        return result == 0 ? .entry(FileStatus(status)) : Self.absence(errno)
    }

    /// What it says of a place that it cannot be looked at.
    private static func absence(_ errno: Int32) -> Place { isNothing(errno) ? .nothing : .unknown(errno: errno) }

    /// Whether an errno says that nothing is at a path.
    private static func isNothing(_ errno: Int32) -> Bool { errno == ENOENT || errno == ENOTDIR || errno == ELOOP }

    /// All entries of the directory at `path`; nil when it is not there, or has another inode.
    ///
    /// - Throws: the errno of a directory that is there and cannot be read.
    func list(_ path: RelativePath, inode: UInt64) throws(ListError) -> Listing? {
        guard let descriptor = open(path) else {
            guard Self.isNothing(errno) else { throw ListError(errno: errno) }
            return nil
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure(closing: descriptor) }
        guard UInt64(status.st_ino) == inode else {
            close(descriptor)
            return nil
        }
        guard let stream = fdopendir(descriptor) else { throw Self.failure(closing: descriptor) }
        defer { closedir(stream) }
        var listing = Listing()
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw ListError(errno: errno) }
                return listing
            }
            let name = Self.name(of: entry)
            guard name != [0x2E], name != [0x2E, 0x2E] else { continue }
            var found = stat()
            if calls.status(dirfd(stream), &entry.pointee.d_name.0, &found) == 0 {
                listing.entries.append(Entry(name: name, status: FileStatus(found)))
            } else if errno != ENOENT {
                if listing.unread.isEmpty { listing.errno = errno }
                listing.unread.append(name)
            }
            // Gone since: its event tells.
        }
    }

    /// Whether the directory at `path` has a name that `isSuch`; of a directory that cannot be read that is not known.
    func holdsName(in path: RelativePath, _ isSuch: ([UInt8]) throws -> Bool) rethrows -> Bool {
        guard let descriptor = open(path) else { return false }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return false
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            if try isSuch(Self.name(of: entry)) { return true }
        }
        return false
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
        withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
    }

    private static func failure(closing descriptor: Int32) -> ListError {
        let failure = ListError(errno: errno)
        close(descriptor)
        return failure
    }

    /// Whether the entry says of itself that it is a placeholder (design, rule 4); asks only files that can be one, and empty
    /// ones. A mark that is stale is taken away, so that it counts at no later time either; the entry has the status
    /// afterwards.
    func isPlaceholder(_ entry: inout Entry, in directory: RelativePath) -> Bool {
        guard entry.status.mayBePlaceholder || entry.status.kind == .file && entry.status.size == 0,
            let descriptor = open(directory)
        else { return false }
        defer { close(descriptor) }
        // By way of the directory's descriptor: at any depth. Hardly a file has a mark: it is not opened for that.
        let path = Array("/proc/self/fd/\(descriptor)/".utf8) + entry.name + [0]
        return path.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress, lgetxattr(start, StoreAttribute.placeholder, nil, 0) >= 0 else {
                    return false
                }
                return isMarkValid(start, &entry)
            }
        }
    }

    /// The same of an entry that has a mark.
    private func isMarkValid(_ path: UnsafePointer<CChar>, _ entry: inout Entry) -> Bool {
        let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        // Nobody can read it: what it says is believed.
        guard file >= 0 else { return true }
        defer { close(file) }
        var found = stat()
        // Another file since: its event tells.
        guard fstat(file, &found) == 0, UInt64(found.st_ino) == entry.status.inode else { return true }
        switch PlaceholderMark(of: file, FileStatus(found)) {
        case .counts: return true
        case .absent: break
        case .stale: fremovexattr(file, StoreAttribute.placeholder)
        }
        if fstat(file, &found) == 0 { entry.status = FileStatus(found) }
        return false
    }

    /// Which version an entry stands for, where it says so and is a placeholder.
    func placeholder(_ entry: Entry, in directory: RelativePath) -> Placeholder? {
        guard entry.status.mayBePlaceholder, let file = openFile(entry, in: directory) else { return nil }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, UInt64(found.st_ino) == entry.status.inode,
            PlaceholderMark(of: file, FileStatus(found)) == .counts
        else { return nil }
        // No attribute is longer.
        var value = [UInt8](repeating: 0, count: 1 << 16)
        let count = fgetxattr(file, StoreAttribute.placeholder, &value, value.count)
        return count < 0 ? nil : Placeholder(parsing: Array(value.prefix(count)))
    }

    /// Makes a file the placeholder again that it was, where it has a size and no byte other than zero: a copy whose tool has
    /// left the mark out. The entry has the status afterwards.
    ///
    /// - Returns: false where it has content of its own.
    /// - Throws: the mark cannot be written, or the file not be read.
    func renewMark(
        of entry: inout Entry, in directory: RelativePath, _ placeholder: Placeholder
    ) throws(ListError) -> Bool {
        guard let file = openFile(entry, in: directory) else { throw ListError(errno: errno) }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw ListError(errno: errno) }
        // Another file since: its event tells.
        guard UInt64(found.st_ino) == entry.status.inode else { return true }
        do throws(UnreadableContent) {
            guard try PlaceholderMark.isZeros(file, FileStatus(found)) else { return false }
        } catch {
            throw ListError(errno: error.errno)
        }
        // Not written through: if it is lost, so is the time of its change, and the next rescan renews it again.
        try mark(file, placeholder.encoded, mode: found.st_mode & 0o7777)
        guard fstat(file, &found) == 0 else { throw ListError(errno: errno) }
        entry.status = FileStatus(found)
        return true
    }

    /// Whether an entry has a size and no byte other than zero, or cannot be read.
    func mayBeZeros(_ entry: Entry, in directory: RelativePath) -> Bool {
        guard entry.status.mayBePlaceholder else { return false }
        guard let file = openFile(entry, in: directory) else { return true }
        defer { close(file) }
        return (try? PlaceholderMark.isZeros(file, entry.status)) ?? true
    }

    /// Marks an open file. The owner of one that nobody may write to may do that only while it may be written to.
    private func mark(_ file: Int32, _ value: [UInt8], mode: mode_t) throws(ListError) {
        if calls.setMark(file, value) == 0 { return }
        guard errno == EACCES, mode & S_IWUSR == 0, fchmod(file, mode | S_IWUSR) == 0 else {
            throw ListError(errno: errno)
        }
        let failure = calls.setMark(file, value) == 0 ? nil : ListError(errno: errno)
        guard fchmod(file, mode) == 0 else { throw ListError(errno: errno) }
        if let failure { throw failure }
    }

    /// Writes directories through to the disk: by their inodes, where they are. The whole file system where that is nil, or one
    /// of them is not there.
    ///
    /// - Throws: the errno of a disk that does not take it. A file system that cannot be asked for it is left to itself.
    func writeThrough(_ directories: [UInt64: RelativePath]?) throws(ListError) {
        for (inode, path) in directories ?? [:] {
            guard let directory = open(path) else { return try writeAllThrough() }
            defer { close(directory) }
            var found = stat()
            guard fstat(directory, &found) == 0, UInt64(found.st_ino) == inode else { return try writeAllThrough() }
            try Self.check(calls.writeThrough(directory, false))
        }
        if directories == nil { try writeAllThrough() }
    }

    private func writeAllThrough() throws(ListError) {
        // Without the drive's directory there is nothing to write through.
        guard let root = open(.root) else { return }
        defer { close(root) }
        try Self.check(calls.writeThrough(root, true))
    }

    private static func check(_ result: Int32) throws(ListError) {
        if result != 0, [EIO, ENOSPC, EDQUOT].contains(errno) { throw ListError(errno: errno) }
    }

    /// A descriptor of what has the entry's name by now, to read; nil with errno set.
    private func openFile(_ entry: Entry, in directory: RelativePath) -> Int32? {
        guard let parent = open(directory) else { return nil }
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = FileName(unchecked: entry.name).withCString { openat(parent, $0, flags) }
        let failure = errno
        close(parent)
        errno = failure
        return file < 0 ? nil : file
    }

    /// A descriptor of the directory; nil with errno set.
    func open(_ path: RelativePath) -> Int32? {
        var descriptor = calls.open(AT_FDCWD, root)
        guard descriptor >= 0 else { return nil }
        for name in path.components {
            let next = name.withCString { calls.open(descriptor, $0) }
            let failure = errno
            close(descriptor)
            errno = failure
            guard next >= 0 else { return nil }
            descriptor = next
        }
        return descriptor
    }
}

/// A directory could not be read.
struct ListError: Error {
    var errno: Int32
}

extension FileName {
    func withCString<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        (bytes + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                // The array holds at least the terminator.
                text.baseAddress.map(body) ?? "".withCString(body)
            }
        }
    }
}
