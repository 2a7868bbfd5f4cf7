import Foundation
import Glibc
import QuireCore

/// By what a document knows whether the content it read or wrote is still what is there. Of a package it is that of all in it.
struct ContentStamp: Hashable, Sendable {
    /// Since 1970, as far as that can be told (`FileTime`); of a package the youngest.
    private(set) var modifiedNanoseconds: Int64
    /// In bytes; of a package all together.
    private(set) var size: Int64
    /// Of a package's names, times and sizes, in this process alone; 0 of a file.
    private(set) var digest = 0
    /// Taken so soon after the modification that another one could bear the same time: equality proves nothing.
    private(set) var isRacy: Bool

    /// Two ticks of the slowest kernel clock.
    private static let tickNanoseconds: Int64 = 20_000_000

    init(modifiedNanoseconds: Int64, size: Int64, isRacy: Bool = false) {
        self.modifiedNanoseconds = modifiedNanoseconds
        self.size = size
        self.isRacy = isRacy
    }

    /// Of what is at `path` now; nil where nothing is. Blocks on the file system.
    init?(path: String) {
        var status = stat()
        var now = timespec()
        guard stat(path, &status) == 0 else { return nil }
        clock_gettime(CLOCK_REALTIME, &now)
        self.init(modifiedNanoseconds: Self.nanoseconds(status.st_mtim), size: Int64(status.st_size))
        if status.st_mode & S_IFMT == S_IFDIR { addAll(below: path) }
        isRacy = modifiedNanoseconds > Self.nanoseconds(now) - Self.tickNanoseconds
    }

    /// Whether both are of the same content, as far as times, sizes and names tell.
    func matches(_ other: ContentStamp) -> Bool {
        modifiedNanoseconds == other.modifiedNanoseconds && size == other.size && digest == other.digest
    }

    private mutating func addAll(below directory: String) {
        size = 0
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: directory) else { return }
        var hasher = Hasher()
        for name in names.sorted() {
            var status = stat()
            // Gone meanwhile: then whoever removed it tells, and it is looked at again.
            guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
            let modified = Self.nanoseconds(status.st_mtim)
            modifiedNanoseconds = max(modifiedNanoseconds, modified)
            size += status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : 0
            hasher.combine(name)
            hasher.combine(modified)
            hasher.combine(status.st_size)
        }
        digest = hasher.finalize()
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec).nanoseconds
    }
}
