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

    /// Opens the file and lets `prepare` read it; a damaged one, or one that the disk cannot read, is set aside, and the same
    /// done with a new one.
    func open(
        _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState, IndexOpening) {
        guard access(path, F_OK) == 0 else {
            let (pool, state) = try begin(prepare)
            return (pool, state, .created)
        }
        let finding = marker.read()
        if finding != .damaged, let (pool, state) = try connectWhole(checks: finding == .notClosed, prepare) {
            return (pool, state, .existing)
        }
        try ensureReplaceable()
        let aside = try setAside()
        let (pool, state) = try begin(prepare)
        return (pool, state, .rebuilt(setAside: aside))
    }

    /// Makes the file; what was begun and failed is removed, so that the next start does not set it aside in its turn.
    private func begin(_ prepare: (Database) throws -> IngestState) throws(IndexError) -> (DatabasePool, IngestState) {
        do throws(IndexError) {
            return try connect(checks: false, prepare)
        } catch {
            remove()
            throw error
        }
    }

    /// Opens the file as it is; nil where it is damaged, or the disk cannot read it, and is so still when it is read anew.
    private func connectWhole(
        checks: Bool, _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState)? {
        do throws(IndexError) {
            return try connect(checks: checks, prepare)
        } catch {
            guard error.code == .corrupt || error.isOfReading else { throw error }
            if try isDamaged(after: error) { return nil }
        }
        do throws(IndexError) {
            return try connect(checks: false, prepare)
        } catch {
            guard error.code == .corrupt else { throw error }
            return nil
        }
    }

    /// As `isDamaged()`; where that cannot be told now, what SQLite said counts.
    private func isDamaged(after failure: IndexError) throws(IndexError) -> Bool {
        do throws(IndexError) {
            return try isDamaged()
        } catch {
            guard failure.code == .corrupt else { throw error }
            return true
        }
    }

    /// Opens the file, or makes one, and lets `prepare` read it.
    ///
    /// - Parameter checks: whether all of it is read first.
    func connect(
        checks: Bool, _ prepare: (Database) throws -> IngestState
    ) throws(IndexError) -> (DatabasePool, IngestState) {
        _ = Self.keepsSharedMemoryInProcess
        try Self.takeFromOthers(path)
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

    /// Has a file of SQLite, and what lies beside it, be read by its owner only, before anything is in it: it names all that
    /// is on the drive. SQLite gives what it makes beside it the same mode.
    static func takeFromOthers(_ path: String) throws(IndexError) {
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
    /// What the disk cannot read it is asked for once more: a disk that is out of reach for a moment damages nothing.
    ///
    /// - Throws: `.noSpace`, `.failed`: that cannot be told now.
    func isDamaged() throws(IndexError) -> Bool {
        do throws(IndexError) {
            return try isFoundDamaged()
        } catch {
            guard error.isOfReading else { throw error }
            usleep(Self.betweenReadings)
        }
        do throws(IndexError) {
            return try isFoundDamaged()
        } catch {
            guard error.isOfReading else { throw error }
            return true
        }
    }

    /// In microseconds.
    private static let betweenReadings: UInt32 = 500_000

    private func isFoundDamaged() throws(IndexError) -> Bool {
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

    /// Makes sure that the disk takes another file in the place of this one: where it does not, that is ill and not the file.
    ///
    /// - Throws: `.noSpace`, `.failed`.
    func ensureReplaceable() throws(IndexError) {
        let probe = path + ".probe"
        let descriptor = Glibc.open(probe, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let isWritten = descriptor >= 0 && Self.fill(descriptor)
        let number = errno
        if descriptor >= 0 {
            close(descriptor)
            unlink(probe)
        }
        guard !isWritten else { return }
        let isFull = number == ENOSPC || number == EDQUOT
        var error = IndexError(
            isFull ? .noSpace : .failed,
            isFull
                ? "the disk is full: there is no room for a new index in the place of \(path). Free some space"
                : "the index \(path) cannot be read, and the disk takes no new one: it may be failing. See to that",
            cause: String(cString: strerror(number)))
        error.isOfDisk = true
        throw error
    }

    private static func fill(_ descriptor: CInt) -> Bool {
        let page = [UInt8](repeating: 0xA5, count: 4096)
        return write(descriptor, page, page.count) == page.count && fsync(descriptor) == 0
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
            let isUnread = findings.contains(where: tellsOfReading)
            throw DatabaseError(
                resultCode: isUnread ? .SQLITE_IOERR_READ : .SQLITE_CORRUPT, message: findings.first)
        }
    }

    /// Whether what `quick_check` found is a page that was not read: it says that in words and goes on.
    private static func tellsOfReading(_ finding: String) -> Bool {
        guard let range = finding.firstRange(of: "error code="),
            let code = Int32(finding[range.upperBound...].prefix { $0.isNumber })
        else { return false }
        return code & 0xFF == SQLITE_IOERR
    }
}
