import GRDB
import QuireCore

/// The ids of types, by their numbers in the catalog; 0 for one that has none yet.
struct TypeIDs {
    let typer: ItemTyper
    private var ids: [Int64]
    /// Some row has the type `TypeCode.unseen`.
    var hasUnseen = false

    init(_ typer: ItemTyper) {
        self.typer = typer
        ids = Array(repeating: 0, count: typer.catalog.count)
    }

    /// The id of the catalog's type; a row is made for one that is met for the first time.
    mutating func id(_ number: Int, _ db: Database) throws -> Int64 {
        if ids[number] != 0 { return ids[number] }
        ids[number] = try db.typeID(typer.catalog.type(number))
        return ids[number]
    }
}

extension Database {
    /// The id of a type in `types`; made where there is none.
    func typeID(_ type: ContentType) throws -> Int64 {
        let find = "SELECT id FROM types WHERE identifier = ?"
        if let id = try first(find, .text(type.identifier), read: { $0.integer(0) }) { return id }
        try run("INSERT INTO types (identifier) VALUES (?)", .text(type.identifier))
        return lastInsertedRowID
    }
}

extension TreeWriter {
    /// Derives the type of a row that is new, or whose name, kind or content are others than they were when it was read.
    mutating func setType(_ row: inout ItemRow) throws {
        if let before = row.typed, row.type != 0, before.isSame(row) {
            // Content came that nobody looked at.
            if row.type == TypeCode.absent, !row.local.isDataless { row.type = TypeCode.unseen }
        } else if let number = state.types.typer.number(row.local.kind, row.name) {
            row.type = try state.types.id(number, db)
        } else {
            row.type = row.local.isDataless ? TypeCode.absent : TypeCode.unseen
        }
        if row.type == TypeCode.unseen { state.types.hasUnseen = true }
    }

    /// Types all rows anew: types are others than they were, or names have others.
    func typeAll() throws {
        var types = state.types
        var last: Int64 = .min
        while true {
            let page = try db.all(
                "SELECT id, name, kind, dataless, type FROM items WHERE id > ? ORDER BY id LIMIT 5000", .integer(last)
            ) { ($0.integer(0), $0.blob(1), FileKind(code: $0.integer(2)), $0.flag(3), $0.integer(4)) }
            guard let end = page.last?.0 else { return }
            last = end
            for (id, name, kind, isDataless, before) in page {
                let known = try types.typer.number(kind, name).map { try types.id($0, db) }
                let type = known ?? (isDataless ? TypeCode.absent : TypeCode.unseen)
                guard type != before else { continue }
                try db.run("UPDATE items SET type = ? WHERE id = ?", .integer(type), .integer(id))
            }
        }
    }
}

extension ItemRow {
    /// What a type was derived of.
    struct Typed {
        private let name: [UInt8]
        private let fingerprint: Fingerprint

        init(_ row: ItemRow) {
            name = row.name
            fingerprint = row.local.fingerprint
        }

        /// Whether the type still holds. Attributes that change the ctime alone change no content; a placeholder that takes a
        /// file's place has the content that was.
        func isSame(_ row: ItemRow) -> Bool {
            let other = row.local.fingerprint
            return name == row.name && fingerprint.kind == other.kind && fingerprint.size == other.size
                && fingerprint.mtime == other.mtime && (fingerprint.inode == other.inode || row.local.isDataless)
        }
    }
}
