import Glibc
import GRDB
import GRDBSQLite
package import Logging
package import QuireCore

extension MetadataIndex {
    /// Opens the index at `path`, or makes one.
    ///
    /// A damaged file is set aside and a new index made; what that one lacks, a rescan and the provider tell. Blocks
    /// on the disk; call it from no cooperative thread where that matters.
    /// - Parameters:
    ///   - path: absolute path of `index.sqlite`; `-wal`, `-shm` and `.open` are made beside it.
    ///   - driveRoot: absolute path of the store.
    ///   - settleLimit: how long `settle` waits while the disk refuses.
    ///   - clock: the time of day; injected in tests.
    /// - Throws: `.newerSchema`, `.storeMissing`, `.noSpace`, `.failed`.
    package static func open(
        at path: String, driveRoot: String, ephemeral: EphemeralNames = EphemeralNames(),
        containers: ContainerLayout = .single, types: ItemTyper = ItemTyper(), settleLimit: Duration = .seconds(2),
        clock: @escaping @Sendable () -> FileTime = MetadataIndex.systemClock, logger: Logger = Logger(label: "index")
    ) throws(IndexError) -> (MetadataIndex, IndexOpening) {
        let lister = StoreLister(root: driveRoot)
        guard let rootStatus = lister.rootStatus() else {
            throw IndexError(.storeMissing, "the drive's directory \(driveRoot) is not there")
        }
        let marker = OpenMarker(path: path + ".open")
        let (pool, state, opening) = try openFile(path, marker, clock) { db in
            try prepare(db, rootStatus, containers, ephemeral, types, now: clock())
        }
        marker.markOpen()
        let queue = IngestQueue()
        let progress = IngestProgress()
        let typing = ContentTyping(
            pool: pool, root: state.root, opener: ContentOpener(lister: lister), catalog: types.catalog, logger: logger
        ) { progress.tick() }
        let body = IngestThread(
            pool: pool, queue: queue, progress: progress, lister: lister, state: state, marker: marker,
            settleLimit: settleLimit, clock: clock, typing: typing, logger: logger)
        let thread = OwnedThread(name: "quire-index", niceness: 5) {
            body.run()
            progress.ended()
        }
        let typingThread = OwnedThread(name: "quire-types", niceness: 15) { typing.run() }
        guard let thread, let typingThread else {
            queue.close()
            typing.close()
            throw IndexError(.failed, "no thread can be started for the index")
        }
        // What an earlier daemon did not come to.
        typing.wake()
        let index = MetadataIndex(
            pool: pool, queue: queue, progress: progress, root: state.root, tagged: state.tagged, marker: marker,
            thread: thread,
            typing: (typing, typingThread), clock: clock
        )
        return (index, opening)
    }

    /// The system's time of day.
    package static let systemClock: @Sendable () -> FileTime = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }

    // MARK: The file

    /// Opens the file and lets `prepare` read it; a damaged one is set aside, and the same done with a new one.
    private static func openFile(
        _ path: String, _ marker: OpenMarker, _ clock: @Sendable () -> FileTime,
        _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState, IndexOpening) {
        let existed = access(path, F_OK) == 0
        let finding = existed ? marker.read() : .closed
        if finding != .damaged {
            do {
                let (pool, state) = try connect(path, checks: finding == .notClosed, prepare)
                return (pool, state, existed ? .existing : .created)
            } catch  where error.code != .corrupt {
                throw error
            } catch {
                // Set aside below.
            }
        }
        let aside = try setAside(path, clock())
        let (pool, state) = try connect(path, checks: false, prepare)
        return (pool, state, .rebuilt(setAside: aside))
    }

    private static func connect(
        _ path: String, checks: Bool, _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState) {
        _ = keepsSharedMemoryInProcess
        var configuration = Configuration()
        configuration.label = "quire-index"
        configuration.maximumReaderCount = readerCount
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY")
            try TextMatcher.register(db)
            try TypeMatcher.register(db)
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            if checks { try pool.read(checkIntegrity) }
            let migrator = Schema.migrator
            let known = Set(migrator.migrations)
            let isNewer = try pool.read { db in
                let applied = try migrator.appliedIdentifiers(db)
                return !applied.isSubset(of: known)
            }
            if isNewer {
                throw IndexError(
                    .newerSchema, "\(path) was made by a newer version of Quire. Use that version, or remove it")
            }
            try migrator.migrate(pool)
            return (pool, try pool.write(prepare))
        } catch let error as IndexError {
            throw error
        } catch {
            throw IndexError(error, "opening \(path)")
        }
    }

    /// Has SQLite keep what its connections share in this process's memory instead of a mapped file (`-shm`), and hold the
    /// file's lock while it is open: the home is one process's anyway. A disk that cannot take a page of a mapped file (a
    /// quota that is used up, on btrfs) ends the process with SIGBUS; a failing write is an error code.
    ///
    /// For the process as a whole: SQLite knows a default only. (sqlite.org, "WAL-mode without shared memory", "unix-excl")
    private static let keepsSharedMemoryInProcess: Bool = {
        guard let system = sqlite3_vfs_find("unix-excl") else { return false }
        return sqlite3_vfs_register(system, 1) == SQLITE_OK
    }()

    private static func checkIntegrity(_ db: Database) throws {
        let findings = try db.all("PRAGMA quick_check(1)", read: { $0.text(0) })
        guard findings == ["ok"] else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: findings.first)
        }
    }

    /// Renames the damaged files. Returns the new path of the first.
    private static func setAside(_ path: String, _ now: FileTime) throws(IndexError) -> String {
        var seconds = time_t(now.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        let time = digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
        let aside = "\(path).corrupt-\(date)-\(time)"
        for suffix in ["", "-wal", "-shm"] where rename(path + suffix, aside + suffix) != 0 && errno != ENOENT {
            throw IndexError(
                .failed, "the damaged index \(path) cannot be set aside", cause: String(cString: strerror(errno)))
        }
        return aside
    }

    // MARK: Its state

    /// Reads what the ingest thread keeps, and makes the root's row.
    private static func prepare(
        _ db: Database, _ rootStatus: FileStatus, _ containers: ContainerLayout, _ ephemeral: EphemeralNames,
        _ types: ItemTyper, now: FileTime
    ) throws -> IngestState {
        let epoch: Int64
        if let stored = try db.meta(MetaKey.epoch).flatMap({ Int64($0) }) {
            epoch = stored
        } else {
            epoch = Int64.random(in: 1..<(1 << 31))
            try db.setMeta(MetaKey.epoch, String(epoch))
        }
        let nextID = try db.meta(MetaKey.nextID).flatMap { Int64($0) } ?? 1
        let root = epoch << 32
        // Handles do not outlive the daemon; the fingerprint decides now. What is never uploaded is never pending, but a
        // temporary file may have been renamed over a document meanwhile.
        let open = try db.all(
            """
            SELECT id FROM items WHERE pending <> 0 AND writers = 1
            UNION SELECT id FROM items WHERE local_only = 1 AND writers = 1
            """, read: { $0.integer(0) })
        try db.run("DELETE FROM parked WHERE item <> 0 AND item NOT IN (SELECT id FROM items)")
        var writer = TreeWriter(
            db: db,
            state: IngestState(
                epoch: epoch, root: root, nextID: nextID, layout: containers, ephemeral: ephemeral,
                types: TypeIDs(types))
        ) { _ in nil }
        writer.now = now.nanoseconds
        for id in open {
            guard var row = try writer.row(id) else { continue }
            row.writersOpen = false
            try writer.update(row)
        }
        if try writer.row(root) == nil {
            try writer.insert(
                ItemRow(
                    id: root, parent: Schema.noParent, name: [], local: LocalRecord(rootStatus, isDataless: false),
                    container: ContainerID.default.rawValue, role: .driveRoot, since: now.nanoseconds))
        } else if var row = try writer.row(root), row.local.inode != rootStatus.inode {
            row.local = LocalRecord(rootStatus, isDataless: false)
            try writer.update(row)
        }
        for inode in try db.all("SELECT inode FROM items WHERE tags <> ''", read: { $0.integer(0) }) {
            writer.state.tagged.insert(UInt64(bitPattern: inode))
        }
        let rules = PlacementRules(containers, ephemeral)
        if try db.meta(MetaKey.layout) != rules.stored {
            try writer.placeAll()
            try db.setMeta(MetaKey.layout, rules.stored)
        }
        if try db.meta(MetaKey.types) != types.stored {
            try writer.typeAll()
            try db.setMeta(MetaKey.types, types.stored)
        }
        if writer.state.nextID != nextID { try db.setMeta(MetaKey.nextID, String(writer.state.nextID)) }
        return writer.state
    }
}
