import Glibc

/// By what a document knows whether the content it read or wrote is still what is there.
struct ContentStamp: Hashable, Sendable {
    /// Since 1970.
    let modifiedNanoseconds: Int64
    /// In bytes.
    let size: Int64
    /// Taken so soon after the modification that another one could bear the same time: equality proves nothing.
    let isRacy: Bool

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
        let modified = Self.nanoseconds(status.st_mtim)
        self.init(
            modifiedNanoseconds: modified, size: Int64(status.st_size),
            isRacy: Self.nanoseconds(now) - modified < Self.tickNanoseconds)
    }

    /// Whether both are of the same content, as far as time and size tell.
    func matches(_ other: ContentStamp) -> Bool {
        modifiedNanoseconds == other.modifiedNanoseconds && size == other.size
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
