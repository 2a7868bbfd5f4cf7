import Glibc
import GRDB
import Logging
import QuireCore

/// The words of documents: `content.sqlite`, beside the index.
///
/// A file of its own, so that switching it off is removing a file, the index stays small, no one who writes to that waits while
/// words are merged, and damage to words concerns nothing else: all of it is read anew from the documents.
///
/// ```
/// read    which version of an item was read, as what type, and whether words were found: key `item`
/// words   FTS5 with its text, by item
/// ```
/// The index's readers attach it as `content`; this is the only writer.
final class ContentStore: Sendable {
    private static let version = 1

    let path: String
    let database: DatabaseQueue
    private let marker: OpenMarker
    /// Somebody who reads met damage, here or in the index.
    private let isSuspected = OnceMark()

    /// Opens the file, or makes one; a damaged one, one that the disk cannot read, and one of another version are removed
    /// first. Blocks.
    init(at path: String, logger: Logger) throws(IndexError) {
        self.path = path
        marker = OpenMarker(path: path + ".open")
        let finding = marker.read()
        if finding == .damaged { Self.remove(path) }
        do {
            database = try Self.connect(path, checks: finding == .notClosed)
        } catch {
            let failure = IndexError(error, "opening \(path)")
            guard failure.code == .corrupt || failure.isOfReading else { throw failure }
            logger.warning("the words of documents were damaged; they are read anew", metadata: ["file": "\(path)"])
            Self.remove(path)
            do { database = try Self.connect(path, checks: false) } catch { throw IndexError(error, "opening \(path)") }
        }
        marker.markOpen()
    }

    /// Removes the file with all that is beside it: nothing happens where there is none.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", ".open"] { unlink(path + suffix) }
    }

    private static func connect(_ path: String, checks: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "quire-content"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY")
        }
        try IndexFile.takeFromOthers(path)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { db in
            if checks, try db.all("PRAGMA quick_check(1)", read: { $0.text(0) }) != ["ok"] {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
            let found = try db.first("PRAGMA user_version", read: { $0.integer(0) }) ?? 0
            guard found == 0 || found == version else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            guard found == 0 else { return }
            try db.inTransaction(.immediate) {
                try db.execute(sql: schema)
                return .commit
            }
        }
        return database
    }

    private static let schema = """
        CREATE TABLE read (
            item INTEGER PRIMARY KEY, generation INTEGER NOT NULL, type INTEGER NOT NULL, found INTEGER NOT NULL);
        CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2', columnsize = 0);
        PRAGMA user_version = \(version);
        """

    /// Has the next start look whether the file is damaged.
    func suspectDamage() { isSuspected.set() }

    /// Closes the file; the next start makes a new one where it turned out to be damaged. Blocks.
    func close() throws {
        try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try database.close()
        if marker.read() != .damaged, !isSuspected.isSet { marker.remove() }
    }

    // MARK: Writing

    /// Notes what documents say, in place of what was noted, in one transaction. Blocks.
    func note(_ readings: [ContentReading]) throws(IndexError) {
        try write { db in
            for reading in readings {
                let work = reading.document
                try db.run("DELETE FROM words WHERE rowid = ?", .integer(work.id.rawValue))
                try db.run(
                    "INSERT OR REPLACE INTO read (item, generation, type, found) VALUES (?, ?, ?, ?)",
                    .integer(work.id.rawValue), .integer(work.generation), .integer(work.typeID),
                    .flag(reading.text != nil))
                guard let text = reading.text else { continue }
                try db.run(
                    "INSERT INTO words (rowid, text) VALUES (?, ?)", .integer(work.id.rawValue),
                    .text(WordText.prepared(text)))
            }
        }
    }

    /// Forgets items, in one transaction. Blocks.
    func forget(_ items: [Int64]) throws(IndexError) {
        try write { db in
            for item in items {
                try db.run("DELETE FROM words WHERE rowid = ?", .integer(item))
                try db.run("DELETE FROM read WHERE item = ?", .integer(item))
            }
        }
    }

    /// The bytes that words take in the file: without what is not merged into it yet, and without pages that are free again, as
    /// those are that had the text of documents that went. Their part of the index of words is free when that is merged.
    func size() throws(IndexError) -> ByteCount {
        do {
            return try database.read { db in
                func number(_ name: String) throws -> Int64 {
                    try db.first("PRAGMA \(name)", read: { $0.integer(0) }) ?? 0
                }
                let pages = try number("page_count") - number("freelist_count")
                return ByteCount(pages * (try number("page_size")))
            }
        } catch {
            throw told(IndexError(error, "reading \(path)"))
        }
    }

    private func write(_ body: (Database) throws -> Void) throws(IndexError) {
        do {
            try database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
            }
        } catch {
            throw told(IndexError(error, "noting words"))
        }
    }

    /// Has the next start look where it is damaged.
    private func told(_ failure: IndexError) -> IndexError {
        if failure.isOfReading { suspectDamage() }
        guard failure.code == .corrupt else { return failure }
        marker.markDamaged()
        return .wordsDamaged(cause: failure.cause)
    }
}
