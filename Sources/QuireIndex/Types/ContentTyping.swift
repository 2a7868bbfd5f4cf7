import GRDB
import Logging
import QuireCore

/// Looks at the content of files whose names say nothing, and notes their types: a thread of its own, of low priority, that
/// waits until the store is quiet. Content that is not here is never asked for; the store is read, not the mount.
///
/// `@unchecked Sendable`: what changes is guarded by `monitor`.
final class ContentTyping: @unchecked Sendable {
    /// Rows looked at between two writes.
    private static let page = 64
    /// For so long nothing new must have come, unless something waits for so long.
    private static let quietMilliseconds = 300
    private static let longestWait: Duration = .seconds(5)

    private let database: IndexDatabase
    private let root: Int64
    private let opener: ContentOpener
    private let catalog: TypeCatalog
    private let logger: Logger
    /// Called after types were noted, on this thread.
    private let onChange: @Sendable () -> Void
    private let monitor = ThreadMonitor()
    // Guarded by `monitor`.
    private var passes: UInt64 = 0
    private var hasClosed = false

    init(
        database: IndexDatabase, root: Int64, opener: ContentOpener, catalog: TypeCatalog, logger: Logger,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.database = database
        self.root = root
        self.opener = opener
        self.catalog = catalog
        self.logger = logger
        self.onChange = onChange
    }

    /// There is something to look at. From any thread; returns at once.
    func wake() {
        monitor.locked {
            passes += 1
            monitor.signal()
        }
    }

    /// Ends the thread; `run` returns soon.
    func close() {
        monitor.locked {
            hasClosed = true
            monitor.signal()
        }
    }

    /// Runs until it is closed.
    func run() {
        var done: UInt64 = 0
        while let passes = waitForWork(after: done) {
            done = passes
            do {
                try pass()
            } catch {
                // Types are told anew after the next change; whatever is wrong with the index, its own thread tells.
                logger.debug("types by content could not be noted", metadata: ["error": "\(error)"])
            }
        }
    }

    private var isClosed: Bool { monitor.locked { hasClosed } }

    /// Returns when there is work and no more comes just now; nil when closed.
    private func waitForWork(after done: UInt64) -> UInt64? {
        monitor.locked {
            while passes == done, !hasClosed { monitor.wait() }
            let first = SuspendingClock.now
            while !hasClosed {
                let before = passes
                let deadline = ThreadMonitor.deadline(milliseconds: Self.quietMilliseconds)
                while passes == before, !hasClosed, monitor.wait(until: deadline) {}
                if passes == before || first.duration(to: .now) > Self.longestWait { return passes }
            }
            return nil
        }
    }

    // MARK: A pass over all rows that nobody looked at

    private struct Row {
        var id: Int64
        var inode: Int64
        var size: Int64
        var mtime: Int64
        var path: RelativePath
    }

    private func pass() throws {
        var last: Int64 = .min
        while !isClosed {
            let (rows, end) = try rows(after: last)
            guard let end else { return }
            last = end
            let found = rows.compactMap { row in type(row).map { (row, $0) } }
            guard !found.isEmpty else { continue }
            try database.use {
                try $0.write { db in
                    for (row, type) in found {
                        // Whatever happened to it meanwhile is newer.
                        try db.run(
                            """
                            UPDATE items SET type = ? WHERE id = ? AND type = -1 AND inode = ? AND size = ? AND mtime = ? \
                            AND dataless = 0
                            """, .integer(try db.typeID(type)), .integer(row.id), .integer(row.inode),
                            .integer(row.size),
                            .integer(row.mtime))
                    }
                }
            }
            onChange()
        }
    }

    /// The next rows, and the last id that was looked at; nil at the end.
    private func rows(after last: Int64) throws -> ([Row], end: Int64?) {
        let root = root
        return try database.use {
            try $0.read { db in
                let found = try db.all(
                    """
                    SELECT id, inode, size, mtime, parent, name, writers FROM items WHERE type = -1 AND id > ? ORDER BY id \
                    LIMIT \(Self.page)
                    """, .integer(last)
                ) { row in
                    (
                        Row(
                            id: row.integer(0), inode: row.integer(1), size: row.integer(2), mtime: row.integer(3),
                            path: .root),
                        row.integer(4), row.blob(5), row.flag(6)
                    )
                }
                var paths = PathBuilder.items(root: root)
                // A file that is being written has a type when it is closed.
                let rows = try found.filter { !$0.3 }.compactMap { row, parent, name, _ in
                    try paths.path(parent, name, db).map { path in
                        var row = row
                        row.path = path
                        return row
                    }
                }
                return (rows, found.last?.0.id)
            }
        }
    }

    /// Most files say what they are in their first page; few rules look further.
    private static let reaches = [4096, TypeCatalog.contentReach]

    /// By what is in the store now; nil where that is another file than the row's.
    private func type(_ row: Row) -> ContentType? {
        var type = ContentType.data
        for reach in Self.reaches {
            let beginning = opener.beginning(
                of: row.path, inode: UInt64(bitPattern: row.inode), size: row.size,
                mtime: FileTime(nanoseconds: row.mtime), limit: reach)
            switch beginning {
            case .content(let bytes):
                let isWhole = bytes.count == row.size
                type = catalog.type(catalog.number(content: bytes, isWhole: isWhole))
                if type != .data || isWhole { return type }
            case .unreadable: return .data
            case .another: return nil
            }
        }
        return type
    }
}
