import Foundation
import Glibc
import QuireCore

/// Whether an item, and its content, is here, by cheap system calls. They block.
struct ItemContent {
    let path: String
    private let status: stat?

    init(path: String) {
        self.path = path
        var status = stat()
        self.status = lstat(path, &status) == 0 ? status : nil
    }

    var exists: Bool { status != nil }

    /// Whether any of its content is here, as far as its blocks tell; true of what is empty.
    var hasBlocks: Bool { status.map { $0.st_size == 0 || $0.st_blocks > 0 } ?? false }

    var modificationDate: Date? {
        status.map {
            Date(timeIntervalSince1970: TimeInterval($0.st_mtim.tv_sec) + Double($0.st_mtim.tv_nsec) / 1e9)
        }
    }

    private var kind: mode_t { (status?.st_mode ?? 0) & S_IFMT }

    /// Whether nothing has to be downloaded before the content is read. Of what may or may not be a placeholder the answer
    /// is had by opening it, which brings the content of one. Of a package it is not known.
    var isHere: Bool {
        guard let status else { return true }
        if kind == S_IFDIR { return !isPackage }
        guard kind == S_IFREG, status.st_size > 0 else { return true }
        if status.st_blocks == 0 { return false }
        // A placeholder has a block at most, for its attributes.
        if Int64(status.st_blocks) * 512 - 4096 >= status.st_size { return true }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file < 0 else {
            close(file)
            return true
        }
        // Not for this user to read, and so nothing to wait for.
        return errno == EACCES || errno == EPERM
    }

    private var isPackage: Bool { RelativePath(parsing: path).map { PackageNames().contains($0) } ?? false }
}
