import Glibc
import GRDB
import GRDBSQLite
import QuireCore

/// The file `index.sqlite`: opened, checked, and set aside where it is damaged.
struct IndexFile: Sendable {
    let path: String
    /// Absolute path of the file of documents' words, which readers attach; nil where they are not kept.
    let content: String?
    let marker: OpenMarker
    /// The time of day.
    let clock: @Sendable () -> FileTime

    init(path: String, content: String?, clock: @escaping @Sendable () -> FileTime) {
        self.path = path
        self.content = content
        self.clock = clock
        marker = OpenMarker(path: path + ".open")
    }

    /// Opens the file and lets `prepare` read it; a damaged one is set aside, and the same done with a new one.
    func open(
        _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState, IndexOpening) {
        let existed = access(path, F_OK) == 0
        let finding = existed ? marker.read() : .closed
        if finding != .damaged {
            do {
                let (pool, state) = try connect(checks: finding == .notClosed, prepare)
                return (pool, state, existed ? .existing : .created)
            } catch  where error.code != .corrupt {
                throw error
            } catch {
                // Set aside below.
            }
        }
        let aside = try setAside()
        let (pool, state) = try connect(checks: false, prepare)
        return (pool, state, .rebuilt(setAside: aside))
    }

    /// Opens the file, or makes one, and lets `prepare` read it.
    ///
    /// - Parameter checks: whether all of it is read first.
    func connect(
        checks: Bool, _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState) {
        _ = Self.keepsSharedMemoryInProcess
        try takeFromOthers()
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            if checks { try pool.read(Self.checkIntegrity) }
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
        } catch {
            throw IndexError(error, "opening \(path)")
        }
    }

    /// Has the file, and what lies beside it, be read by its owner only, before anything is in it: it names all that is on the
    /// drive. SQLite gives what it makes beside it the same mode.
    private func takeFromOthers() throws(IndexError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // One that is there is not opened: closing it would give up the locks on it.
        if descriptor >= 0 { Glibc.close(descriptor) }
        for suffix in ["", "-wal", "-shm"] where chmod(path + suffix, 0o600) != 0 && errno != ENOENT {
            throw IndexError(
                .failed, "the mode of \(path)\(suffix) cannot be set", cause: String(cString: strerror(errno)))
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "quire-index"
        configuration.maximumReaderCount = MetadataIndex.readerCount
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { [content] db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY")
            try TextMatcher.register(db)
            try TypeMatcher.register(db)
            // Not where it is written: who begins to write locks all files.
            if db.configuration.readonly, let content {
                try db.execute(sql: "ATTACH DATABASE ? AS content", arguments: [content])
            }
        }
        return configuration
    }

    /// Whether the file is damaged, by reading all of it on a connection of its own: those that are open may have kept
    /// what was there before. May be asked while it is open.
    ///
    /// - Throws: `.noSpace`, `.failed`: that cannot be told now.
    func isDamaged() throws(IndexError) -> Bool {
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let connection = try DatabaseQueue(path: path, configuration: configuration)
            try connection.read(Self.checkIntegrity)
            try connection.close()
            return false
        } catch {
            let failure = IndexError(error, "checking \(path)")
            guard failure.code == .corrupt else { throw failure }
            return true
        }
    }

    /// Renames the damaged files. Returns the new path of the first. No connection may be open: closing one removes the log
    /// by its name.
    func setAside() throws(IndexError) -> String {
        let aside = unusedName()
        for suffix in ["", "-wal", "-shm"] where rename(path + suffix, aside + suffix) != 0 && errno != ENOENT {
            throw IndexError(
                .failed, "the damaged index \(path) cannot be set aside", cause: String(cString: strerror(errno)))
        }
        return aside
    }

    /// Removes a file that was begun and is of no use.
    func remove() { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    private func unusedName() -> String {
        let name = "\(path).corrupt-\(date)"
        var (candidate, number) = (name, 2)
        while access(candidate, F_OK) == 0 {
            candidate = "\(name)-\(number)"
            number += 1
        }
        return candidate
    }

    private var date: String {
        var seconds = time_t(clock().seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        let time = digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
        return "\(date)-\(time)"
    }

    /// Has SQLite keep what its connections share in this process's memory instead of a mapped file (`-shm`), and hold the
    /// file's lock while it is open: the home is one process's anyway. A disk that cannot take a page of a mapped file (a
    /// quota that is used up, on btrfs) ends the process with SIGBUS; a failing write is an error code.
    ///
    /// For the process as a whole: SQLite knows a default only. (sqlite.org, "WAL-mode without shared memory", "unix-excl")
    static let keepsSharedMemoryInProcess: Bool = {
        guard let system = sqlite3_vfs_find("unix-excl") else { return false }
        return sqlite3_vfs_register(system, 1) == SQLITE_OK
    }()

    private static func checkIntegrity(_ db: Database) throws {
        let findings = try db.all("PRAGMA main.quick_check(1)", read: { $0.text(0) })
        guard findings == ["ok"] else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: findings.first)
        }
    }
}
