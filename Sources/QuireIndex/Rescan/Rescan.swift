import GRDB
import Logging
import QuireCore
import Synchronization

/// Compares rows and store, one directory a step; runs on the ingest thread, between batches.
///
/// ```
/// queue of directories ─▶ list one ─▶ new entry, its inode known elsewhere and gone from there ─▶ row moves
///                                     new entry                                               ─▶ row appears
///                                     other fingerprint                                       ─▶ content changed
///                                     zeros without a mark in the place of a placeholder      ─▶ placeholder again
///                                     another file in the place of a placeholder              ─▶ undecided: at the end
///                                     row without entry                                       ─▶ missing: at the end
///                                     cannot be looked at                                     ─▶ stays as it is known
/// all listed, events until then applied, 50 ms passed ─▶ a placeholder with another inode: the row that its mark names moves
///                                                        a placeholder not found elsewhere was replaced: content changed
///                                                        rows still missing in the store are removed
/// ```
/// Removals wait so that an item that was moved to a directory listed later keeps its identity, and until the event of each
/// operation that was being done is here (`MetadataIndex.setOperations`): what was moved between two listings may be in
/// neither. While something cannot be looked at, what is missing may lie there: of what has its content at the provider alone
/// the row stays.
struct Rescan {
    /// A row whose entry was not found.
    struct Missing {
        var id: Int64
        var parent: Int64
        var name: [UInt8]
    }

    /// A row whose file is a placeholder of something else than the row's base, as far as its mark tells.
    struct Stray {
        var id: Int64
        /// Nil where it cannot be read.
        var mark: Placeholder?
        /// This rescan made the row.
        var isNew: Bool
        /// The row had a base when it was noted.
        var hasBase: Bool
    }

    /// Compares everything, and says so when done. Otherwise only directories that an event did not fit.
    let isWhole: Bool
    var queue: [Int64]
    var next = 0
    var missing: [Missing] = []
    /// By directory, the names of what lies where a placeholder was: a new document if that was moved, which is not known
    /// before all is listed.
    var undecided: [Int64: [[UInt8]]] = [:]
    var strays: [Stray] = []
    /// The id from which on rows are new; nil while this rescan has made none. What has its former id back is not new.
    var firstNew: Int64?
    /// What is missing may be one of these.
    var hidesMoved = false
    /// All is listed.
    var isDeciding = false
    /// Directories that could not be compared, or not all of them; of those that are not listed, what was known before.
    var unread: [Int64: UnreadPlace] = [:]
    /// One of those that were known before can be read.
    var readsAgain = false
    var report = RescanReport()
    /// When the last directory was listed, in monotonic nanoseconds.
    var lastStep: UInt64 = 0 {
        didSet { awaited = nil }
    }
    /// How many events have to be applied before anything is decided; nil before that is known.
    var awaited: UInt64?

    init(whole root: Int64) {
        isWhole = true
        queue = [root]
    }

    /// - Parameter unread: what could not be compared before.
    init(only directories: Set<Int64>, unread: [Int64: UnreadPlace]) {
        isWhole = false
        queue = directories.sorted()
        self.unread = unread
    }

    /// How long nothing may be decided after the last listing.
    static let graceNanoseconds: UInt64 = 50_000_000

    var hasDirectories: Bool { next < queue.count }

    /// The next directory to list.
    mutating func takeDirectory() -> Int64? {
        guard hasDirectories else { return nil }
        defer { next += 1 }
        let id = queue[next]
        // Keeps the queue as short as what is still to be done.
        if next > 1024, next * 2 > queue.count {
            queue.removeFirst(next)
            next = 0
        }
        return id
    }

    /// Notes that a directory cannot be looked at.
    mutating func note(unread directory: Int64, _ path: RelativePath, _ errno: Int32, _ now: Int64) {
        note(
            UnreadPlace(
                directory: ItemID(directory), path: path, cause: path, isWhole: true, errno: errno,
                since: FileTime(nanoseconds: now)))
    }

    /// Notes that an entry of a directory cannot be looked at; the first that is said of a directory stays.
    ///
    /// - Parameter cause: where it may come from, if that is what cannot be looked at.
    mutating func note(
        unread entry: RelativePath, in directory: Int64, because cause: RelativePath? = nil, _ errno: Int32,
        _ now: Int64, _ failure: UnreadPlace.Failure = .looking
    ) {
        note(
            UnreadPlace(
                directory: ItemID(directory), path: entry, cause: cause ?? entry, failure: failure, isWhole: false,
                errno: errno, since: FileTime(nanoseconds: now)))
    }

    /// Whether it cannot be told yet what an entry is that lies where a placeholder was; that is noted then. While something
    /// cannot be looked at, the placeholder may lie there.
    ///
    /// - Parameter path: of the directory.
    mutating func postpones(_ name: [UInt8], in directory: Int64, _ path: RelativePath, _ now: Int64) -> Bool {
        guard isDeciding else {
            undecided[directory, default: []].append(name)
            return true
        }
        let causes = unread.values.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
        guard let place = causes.first else { return false }
        note(
            unread: path.appending(FileName(unchecked: name)), in: directory, because: place.cause, place.errno, now,
            place.failure)
        return true
    }

    private mutating func note(_ place: UnreadPlace) {
        if unread[place.directory.rawValue] == nil { unread[place.directory.rawValue] = place }
    }

    /// Share and number of missing items from which deletions are not believed (design §7).
    static func isImplausible(missing: Int, of total: Int) -> Bool {
        missing > 1000 || (missing > 10 && missing * 2 >= total)
    }
}
