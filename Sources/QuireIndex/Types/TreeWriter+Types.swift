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

    /// What the column `type` holds for an item by its kind and name.
    mutating func code(_ kind: FileKind, _ name: [UInt8], isDataless: Bool, _ db: Database) throws -> Int64 {
        if let number = typer.number(kind, name) { return try id(number, db) }
        return isDataless ? TypeCode.absent : TypeCode.unseen
    }

    /// The id of the catalog's type; a row is made for one that is met for the first time.
    private mutating func id(_ number: Int, _ db: Database) throws -> Int64 {
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
        } else {
            row.type = try state.types.code(row.local.kind, row.name, isDataless: row.local.isDataless, db)
        }
        if row.type == TypeCode.unseen { state.types.hasUnseen = true }
    }

    /// Keeps the times of a row: when it came to be and to its directory, when its content became another; and that it has tags.
    func setTimes(_ row: inout ItemRow) {
        if !row.tags.isEmpty { state.tagged.insert(row.local.inode) }
        // A file that is older than its row came with its time.
        if row.created == 0 { row.created = min(now, row.local.mtime.nanoseconds) }
        if row.typed?.parent != row.parent || row.added == 0 { row.added = now }
        if row.generation == 0 || !(row.typed?.hasSameContent(row) ?? false) {
            // Two changes may have been recorded in one tick of the clock.
            row.generation = max(now, row.generation + 1)
        }
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
                let type = try types.code(kind, name, isDataless: isDataless, db)
                guard type != before else { continue }
                try db.run("UPDATE items SET type = ? WHERE id = ?", .integer(type), .integer(id))
            }
        }
    }
}

extension ItemRow {
    /// What was derived of a row was derived of this.
    struct Typed {
        let parent: Int64
        private let name: [UInt8]
        private let fingerprint: Fingerprint
        private let isDataless: Bool

        init(_ row: ItemRow) {
            parent = row.parent
            name = row.name
            fingerprint = row.local.fingerprint
            isDataless = row.local.isDataless
        }

        /// Whether the type still holds. Attributes that change the ctime alone change no content; a placeholder that takes a
        /// file's place has the content that was.
        func isSame(_ row: ItemRow) -> Bool {
            name == row.name && fingerprint.kind == row.local.kind && hasSameTimes(row)
                && (fingerprint.inode == row.local.inode || row.local.isDataless)
        }

        /// Whether content is presumably as it was; of a directory, always. What comes here or goes is no change.
        func hasSameContent(_ row: ItemRow) -> Bool {
            if row.local.kind == .directory { return true }
            let isOnlyHere = isDataless != row.local.isDataless
            return hasSameTimes(row) && (isOnlyHere || fingerprint.inode == row.local.inode)
        }

        private func hasSameTimes(_ row: ItemRow) -> Bool {
            fingerprint.size == row.local.size && fingerprint.mtime == row.local.mtime
        }
    }
}
