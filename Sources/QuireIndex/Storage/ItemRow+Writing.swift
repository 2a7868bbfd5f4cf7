import GRDB
import QuireCore

/// Writing rows of `items`.
extension Database {
    func insert(_ row: ItemRow) throws { try run(ItemColumns.insertion, ItemColumns.values(of: row)) }

    /// Writes a row that is there. A column that has an index is written only where it is another: SQLite writes the entries
    /// of all indexes anew whose columns a statement names, and most changes of a row concern one or two of a dozen.
    func update(_ row: ItemRow) throws {
        let changes = try first(
            ItemColumns.comparison, .integer(row.parent), .blob(row.name), .integer(Int64(bitPattern: row.local.inode)),
            .integer(row.local.size), .integer(row.local.mtime.nanoseconds), .optional(row.base?.id),
            .integer(row.type), .integer(row.id)
        ) { $0.integer(0) }
        if let changes { try run(ItemColumns.updates[Int(changes)], ItemColumns.values(of: row)) }
    }
}

/// The columns of `items` in the order of their parameters, and the statements made of them.
private enum ItemColumns {
    private static let names = [
        "parent", "name", "kind", "inode", "size", "mtime", "ctime", "mode", "nlink", "container", "role", "dataless",
        "local_only", "writers", "base", "ack_inode", "ack_size", "ack_mtime", "ack_ctime", "pinned", "tags", "since",
        "pending", "conflict_of", "type", "created", "added", "generation", "id",
    ]
    /// Columns that have indexes, by the bits of `comparison`. Those of partial indexes are not among them, which cost nothing
    /// for a row that is outside before and after; `conflict_of` follows from the name.
    private static let indexed = [
        ["parent", "name", "conflict_of"], ["inode"], ["size"], ["mtime"], ["base"], ["type"],
    ]

    static let insertion =
        "INSERT INTO items (\(names.joined(separator: ", "))) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"

    /// Which of `indexed` are others than the parameters say.
    static let comparison = """
        SELECT (parent <> ? OR name <> ?) + 2 * (inode <> ?) + 4 * (size <> ?) + 8 * (mtime <> ?) + 16 * (base IS NOT ?) \
        + 32 * (type <> ?) FROM items WHERE id = ?
        """

    /// By the sum of `comparison`.
    static let updates = (0..<1 << indexed.count).map { changes in
        let unchanged = indexed.enumerated().flatMap { bit, columns in changes >> bit & 1 == 0 ? columns : [] }
        let settings = zip(1..., names).filter { $1 != "id" && !unchanged.contains($1) }.map { "\($1) = ?\($0)" }
        return "UPDATE items SET \(settings.joined(separator: ", ")) WHERE id = ?\(names.count)"
    }

    /// In the order of `names`.
    static func values(of row: ItemRow) -> [SQLValue] {
        let local = row.local
        let acknowledged = row.acknowledged
        return [
            .integer(row.parent), .blob(row.name), .integer(local.kind.code),
            .integer(Int64(bitPattern: local.inode)), .integer(local.size), .integer(local.mtime.nanoseconds),
            .integer(local.ctime.nanoseconds), .integer(Int64(local.mode)),
            .integer(Int64(bitPattern: local.linkCount)),
            .text(row.container), .integer(row.role.rawValue), .flag(local.isDataless), .flag(row.isLocalOnly),
            .flag(row.writersOpen), .optional(row.base?.id),
            .optional(acknowledged.map { Int64(bitPattern: $0.inode) }), .optional(acknowledged?.size),
            .optional(acknowledged?.mtime.nanoseconds), .optional(acknowledged?.ctime.nanoseconds),
            .flag(row.isPinned), .text(row.tags), .integer(row.since), .integer(row.difference.rawValue),
            row.conflictOriginal.map { .blob($0) } ?? .null, .integer(row.type),
            .integer(row.created), .integer(row.added), .integer(row.generation), .integer(row.id),
        ]
    }
}

extension ItemRow {
    /// The name of the document that this is a conflict copy of.
    fileprivate var conflictOriginal: [UInt8]? {
        // Few names have a parenthesis; reading one as text is the dear part.
        guard name.contains(UInt8(ascii: "(")) else { return nil }
        return ConflictName(FileName(unchecked: name))?.original.bytes
    }
}
