import Glibc
import QuireCore
import Synchronization

/// A small file of the home or the configuration: readable by its owner only, read whole, replaced whole.
enum DurableFile {
    /// What the file holds; nil when there is none.
    ///
    /// - Throws: `.unavailable`.
    static func read(_ path: String) throws(QuireError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("cannot read", path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw failure("cannot read", path) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// Replaces the file: written beside it, synced, renamed over, directory synced. Makes the directories that are missing.
    ///
    /// - Throws: `.unavailable`.
    static func replace(_ path: String, with bytes: [UInt8]) throws(QuireError) {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try makeDirectories(directory, for: path)
        try writing.withLock { (_) throws(QuireError) in try stage(path, bytes) }
        try sync(directory, of: path)
    }

    private static func stage(_ path: String, _ bytes: [UInt8]) throws(QuireError) {
        let staged = "\(path).\(getpid()).new"
        // Whoever made one of this name might read what is written into it.
        unlink(staged)
        let descriptor = open(staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot write", path) }
        let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        guard isWritten, isClosed, rename(staged, path) == 0 else {
            let error = failure("cannot write", path)
            unlink(staged)
            throw error
        }
    }

    /// Removes the file, for good when this returns; nothing happens where there is none.
    ///
    /// - Throws: `.unavailable`.
    static func remove(_ path: String) throws(QuireError) {
        guard unlink(path) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return }
            throw failure("cannot remove", path)
        }
        try sync(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), of: path)
    }

    /// Held while a file is written: what is staged has one name for each path. Innermost lock.
    private static let writing = Lock(())

    private static func sync(_ directory: String, of path: String) throws(QuireError) {
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure("cannot sync the directory of", path) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw failure("cannot sync the directory of", path) }
    }

    private static func makeDirectories(_ directory: String, for path: String) throws(QuireError) {
        var made = ""
        for part in directory.split(separator: "/") {
            made += "/\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
                throw failure("cannot make the directory of", path)
            }
        }
    }

    private static func failure(_ what: String, _ path: String) -> QuireError {
        QuireError(.unavailable, "\(what) \(path): \(String(cString: strerror(errno)))")
    }
}
