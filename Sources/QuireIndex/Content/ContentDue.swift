import GRDB
import QuireCore

/// Compares items with what was read of them, for the length of one read.
struct ContentDue {
    /// What is to be done about an item.
    enum Duty {
        case read(ContentDocument)
        case forget(Int64)
    }

    private let root: Int64
    private let isReadable: (ContentType) -> Bool
    private var types = TypeReader()
    private var paths: PathBuilder

    init(root: Int64, isReadable: @escaping (ContentType) -> Bool) {
        self.root = root
        self.isReadable = isReadable
        paths = .items(root: root)
    }

    private static let columns = """
        i.id, i.parent, i.name, i.type, i.size, i.mtime, i.generation, i.dataless, i.writers, i.local_only, r.generation, r.type
        """

    private struct Row {
        let id, parent, type, size, mtime, generation: Int64
        let name: [UInt8]
        let isDataless, isOpen, isLocalOnly: Bool
        let readGeneration, readType: Int64?

        init(_ row: SQLRow) {
            (id, parent, name, type) = (row.integer(0), row.integer(1), row.blob(2), row.integer(3))
            (size, mtime, generation) = (row.integer(4), row.integer(5), row.integer(6))
            (isDataless, isOpen, isLocalOnly) = (row.flag(7), row.flag(8), row.flag(9))
            (readGeneration, readType) = (row.optionalInteger(10), row.optionalInteger(11))
        }
    }

    /// What is to be done about these items.
    mutating func duties(of items: [Int64], _ db: Database) throws -> [Duty] {
        try items.compactMap { id in
            let row = try db.first(
                "SELECT \(Self.columns) FROM items i LEFT JOIN content.read r ON r.item = i.id WHERE i.id = ?",
                .integer(id), read: Row.init)
            guard let row else {
                let isKnown = try db.first(
                    "SELECT 1 FROM content.read WHERE item = ?", .integer(id), read: { _ in true })
                return isKnown == nil ? nil : .forget(id)
            }
            return try duty(row, db)
        }
    }

    /// How many items are looked at in one read.
    private static let window = 20_000

    /// What is to be done about the next items in the order of their ids, `limit` at most, and the last id that was looked at;
    /// nil at the end.
    mutating func duties(after last: Int64, limit: Int, _ db: Database) throws -> (duties: [Duty], end: Int64?) {
        let known = try db.all("SELECT id FROM types", read: { $0.integer(0) })
        let readable = try known.filter { isReadable(try types.type($0, db)) }.map(String.init).joined(separator: ",")
        let seen = try db.all(
            "SELECT max(id), count(*) FROM (SELECT id FROM items WHERE id > ? ORDER BY id LIMIT \(Self.window))",
            .integer(last), read: { ($0.optionalInteger(0), $0.integer(1)) })
        guard let (end, count) = seen.first, let end else { return ([], nil) }
        // Numbers, nothing of a user's. By the table's order: a part continues where the one before ended.
        let rows = try db.all(
            """
            SELECT \(Self.columns) FROM items i LEFT JOIN content.read r ON r.item = i.id
            WHERE i.id > ? AND i.id <= ? AND i.kind = 0 AND i.dataless = 0 AND (
                (r.item IS NULL AND +i.type IN (\(readable)) AND i.size > 0 AND +i.local_only = 0)
                OR (r.item IS NOT NULL AND (r.generation <> i.generation OR r.type <> i.type)))
            ORDER BY i.id LIMIT ?
            """, [.integer(last), .integer(end), .integer(Int64(limit))], isKept: false, read: Row.init)
        let duties = try rows.compactMap { try duty($0, db) }
        if rows.count == limit { return (duties, rows.last?.id) }
        return (duties, count < Self.window ? nil : end)
    }

    /// The next items, in the order of their ids, that were read and are there no more.
    static func gone(after last: Int64, limit: Int, _ db: Database) throws -> [Int64] {
        try db.all(
            """
            SELECT r.item FROM content.read r WHERE r.item > ? AND NOT EXISTS (
                SELECT 1 FROM items i WHERE i.id = r.item AND i.kind = 0) ORDER BY r.item LIMIT ?
            """, .integer(last), .integer(Int64(limit)), read: { $0.integer(0) })
    }

    /// Words of a version that is not here any more stay. A document that is being written is looked at when it is closed.
    private mutating func duty(_ row: Row, _ db: Database) throws -> Duty? {
        guard !row.isDataless, !row.isOpen, row.readGeneration != row.generation || row.readType != row.type else {
            return nil
        }
        let type = try types.type(row.type, db)
        guard row.size > 0, !row.isLocalOnly, isReadable(type) else {
            return row.readGeneration == nil ? nil : .forget(row.id)
        }
        guard let path = try paths.path(row.parent, row.name, db) else { return nil }
        return .read(
            ContentDocument(
                id: ItemID(row.id), path: path, type: type, size: ByteCount(row.size),
                mtime: FileTime(nanoseconds: row.mtime), generation: row.generation, typeID: row.type))
    }
}
