import QuireCore

/// What only WebDAV servers have of Quire's own, beside `StoreLayout`.
enum DAVLayout {
    static let locks: RelativePath = ".quire/locks"

    /// Where directories go that are deleted. What has something in it stays, and is never removed.
    static let kept: RelativePath = ".quire/kept"

    /// Where those stay of which the server shows nothing in them, by days: something that it does not show may be.
    static let emptied: RelativePath = ".quire/emptied"
    /// For how many, unless something shows in them by then.
    static let daysEmptied = 30

    /// The collection of the day of a server's time; of what a server without a clock has put away the one that stays.
    static func emptied(at time: FileTime?) -> RelativePath {
        let name = time.map { "\(day($0))" } ?? "undated"
        return emptied.appending(FileName(unchecked: Array(name.utf8)))
    }

    /// Days since 1970.
    static func day(_ time: FileTime) -> Int { time.seconds / 86_400 }

    /// How many lock names there are: what one device changes keeps another from changing the same name only, nearly
    /// always.
    static let lockCount = 256

    /// The lock names under which `paths` are changed, in the order in which they are taken.
    static func lockNames(_ paths: [RelativePath]) -> [RelativePath] {
        Set(paths.map(bucket)).sorted().map { locks.appending(FileName(unchecked: Array("\($0)".utf8))) }
    }

    /// The same on every device and in every version.
    private static func bucket(_ path: RelativePath) -> Int {
        let hash = FNV1a.hash(path.bytes)
        return Int((hash ^ hash >> 32) % UInt64(lockCount))
    }
}
