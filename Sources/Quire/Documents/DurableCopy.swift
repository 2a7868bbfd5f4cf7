import Foundation
import Glibc

/// Copies of documents that a loss of power takes nothing from. Blocks on the file system.
enum DurableCopy {
    /// Copies a file or a package to where nothing is; its content is on disk when this returns, its name once the directory
    /// is flushed, too.
    ///
    /// - Throws: what Foundation throws; `CocoaError` for what the file system refuses. A part of the copy may be there then.
    static func make(of source: URL, at target: URL) throws {
        try FileManager.default.copyItem(at: source, to: target)
        var status = stat()
        try WrapperWriter.check(lstat(target.path, &status), target)
        guard status.st_mode & S_IFMT == S_IFDIR else { return try flush(target, status) }
        for name in try FileManager.default.subpathsOfDirectory(atPath: target.path) {
            let part = target.appending(path: name, directoryHint: .notDirectory)
            try WrapperWriter.check(lstat(part.path, &status), part)
            try flush(part, status)
        }
        try flush(namesIn: target)
    }

    /// Writes a file or a directory through; of symbolic links the directory that they are in is what counts.
    private static func flush(_ url: URL, _ status: stat) throws {
        if status.st_mode & S_IFMT != S_IFLNK { try flush(url, O_NOFOLLOW) }
    }

    /// Writes what is at `url` through; of a directory the names in it.
    static func flush(_ url: URL) throws { try flush(url, 0) }

    /// Writes the names in a directory through, by whichever way it is reached.
    static func flush(namesIn directory: URL) throws { try flush(directory, O_DIRECTORY) }

    private static func flush(_ url: URL, _ flags: Int32) throws {
        let descriptor = open(url.path, O_RDONLY | flags | O_CLOEXEC)
        try WrapperWriter.check(descriptor, url)
        defer { close(descriptor) }
        try WrapperWriter.check(fsync(descriptor), url)
    }
}
