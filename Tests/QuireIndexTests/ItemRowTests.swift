import GRDB
import Testing

@testable import QuireIndex
@testable import QuireCore

/// Writing rows of `items`.
struct ItemRowTests {
    @Test("A row that was changed in any of its columns, alone or together, is as one that was inserted so")
    func updates() throws {
        let (updated, inserted) = (try Self.database(), try Self.database())
        var random = Dice(state: 20_261_125)
        var row = Self.row
        try updated.write { try $0.insert(row) }
        for _ in 0..<1000 {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                Self.change(
                    &row, column: Int.random(in: 0..<23, using: &random), to: Int64.random(in: 0...2, using: &random))
            }
            let row = row
            try updated.write { try $0.update(row) }
            let expected = try inserted.write { db in
                try db.run("DELETE FROM items")
                try db.insert(row)
                return try Self.columns(db)
            }
            let found = try updated.write { try Self.columns($0) }
            try #require(found == expected)
        }
    }

    @Test("A row that is not there is not made")
    func absent() throws {
        let database = try Self.database()
        try database.write { try $0.update(Self.row) }
        #expect(try database.write { try $0.first("SELECT count(*) FROM items") { $0.integer(0) } } == 0)
    }

    private static func change(_ row: inout ItemRow, column: Int, to value: Int64) {
        let time = FileTime(nanoseconds: value)
        switch column {
        case 0: row.parent = 1 + value
        case 1: row.name = Array(["doc", "doc (conflicted copy 2026-11-25 from here).txt", "x"][Int(value)].utf8)
        case 2: row.local.kind = [.file, .directory, .symlink][Int(value)]
        case 3: row.local.inode = 5 + UInt64(value)
        case 4: row.local.size = value
        case 5: row.local.mtime = time
        case 6: row.local.ctime = time
        case 7: row.local.mode = UInt16(value)
        case 8: row.local.linkCount = UInt64(value)
        case 9: row.local.isDataless = value == 0
        case 10: row.container = "c\(value)"
        case 11: row.role = value == 0 ? .containerRoot : .entry
        case 12: row.isLocalOnly = value == 0
        case 13: row.writersOpen = value == 0
        case 14 where value == 0: row.base = nil
        case 14:
            row.base = ItemRow.Base(id: value, container: "c0", parent: 0, name: row.name, kind: .file, mtime: time)
        case 15: row.acknowledged = value == 0 ? nil : row.local.fingerprint
        case 16: row.isPinned = value == 0
        case 17: row.tags = ["", "red", "blue"][Int(value)]
        case 18: row.since = value
        case 19: row.type = value
        case 20: row.created = value
        case 21: row.added = value
        default: row.generation = value
        }
    }

    private static var row: ItemRow {
        let local = LocalRecord(
            kind: .file, mode: 0o644, size: 1, mtime: FileTime(nanoseconds: 1), ctime: FileTime(nanoseconds: 1),
            inode: 5, linkCount: 1, isDataless: false)
        return ItemRow(id: 7, parent: 1, name: Array("doc".utf8), local: local, container: "c0", since: 1)
    }

    /// With two bases, 1 and 2.
    private static func database() throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try Schema.migrator.migrate(database)
        try database.write { db in
            for id in [1, 2] {
                try db.execute(
                    sql: """
                        INSERT INTO bases (id, container, parent, name, kind, version, size, mtime, orphan, since)
                        VALUES (\(id), '', 0, x'0\(id)', 0, '', 0, 0, 0, 0)
                        """)
            }
        }
        return database
    }

    private static func columns(_ db: Database) throws -> [Row] { try Row.fetchAll(db, sql: "SELECT * FROM items") }
}
