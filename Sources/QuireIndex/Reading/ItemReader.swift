import GRDB
import QuireCore

/// Makes `IndexItem`s of rows, for the length of one read.
struct ItemReader {
    private static let tail = """
        , \(BaseRecord.columns), \(hasConflict), k.message, k.code, k.since
        """
    /// It is a conflict copy, or has one beside it.
    static let hasConflict = """
        (i.conflict_of IS NOT NULL OR EXISTS (SELECT 1 FROM items c WHERE c.parent = i.parent AND c.conflict_of = i.name))
        """
    static let parked = " LEFT JOIN parked k ON k.item = i.id AND k.container = '' AND k.path = x''"
    /// To be followed by a condition on `i` or `b`.
    static let select = "SELECT \(ItemRow.columns)\(tail) FROM \(ItemRow.tables)\(parked) "
    static let byID = select + "WHERE i.id = ?"
    /// As `select`, one row a base.
    static let selectByBase = """
        SELECT \(ItemRow.columns)\(tail) FROM bases b LEFT JOIN items i ON i.base = b.id \
        LEFT JOIN items p ON p.id = i.parent\(parked) 
        """
    private static let baseColumn = ItemRow.columnCount
    private static let conflictColumn = baseColumn + BaseRecord.columnCount

    /// A row as it was read; what needs other rows (paths) is added afterwards.
    struct Raw {
        var row: ItemRow
        var baseRecord: BaseRecord?
        var hasConflict: Bool
        var parked: ParkedError?
    }

    var itemPaths: PathBuilder
    var basePaths = PathBuilder.bases
    private var types = TypeReader()

    init(root: Int64) { itemPaths = .items(root: root) }

    static func raw(_ row: SQLRow) -> Raw {
        let item = ItemRow(row)
        var parked: ParkedError?
        if let message = row.optionalText(conflictColumn + 1) {
            parked = ParkedError(
                message: message, code: row.text(conflictColumn + 2),
                since: FileTime(nanoseconds: row.integer(conflictColumn + 3)))
        }
        // The path is filled in from the links.
        let base = item.base == nil ? nil : BaseRecord(row, from: baseColumn, path: .root)
        return Raw(row: item, baseRecord: base, hasConflict: row.flag(conflictColumn), parked: parked)
    }

    /// The item with this id; nil where there is none.
    mutating func item(_ id: Int64, _ db: Database) throws -> IndexItem? { try items([id], db).first }

    /// The items with these ids, in this order; those that are not there are left out.
    mutating func items(_ ids: some Sequence<Int64>, _ db: Database) throws -> [IndexItem] {
        try db.each(Self.byID, ids, read: Self.raw).compactMap { try item($0, db) }
    }

    /// Nil for a row that is in no directory (a rescan is about to place it).
    mutating func item(_ raw: Raw, _ db: Database) throws -> IndexItem? {
        let path = raw.row.role == .driveRoot ? .root : try itemPaths.path(raw.row.parent, raw.row.name, db)
        guard let path else { return nil }
        return try item(raw, at: path, db)
    }

    mutating func item(_ raw: Raw, at path: RelativePath, _ db: Database) throws -> IndexItem {
        let row = raw.row
        let difference = LocalDifference(rawValue: row.pending)
        return IndexItem(
            id: ItemID(row.id), path: path, container: ContainerID(unchecked: row.container), local: row.local,
            base: try baseRecord(raw, db), difference: difference, isLocalOnly: row.isLocalOnly,
            isContainerRoot: row.role != .entry, writersOpen: row.writersOpen, isPinned: row.isPinned,
            tags: TagList.names(row.tags), since: FileTime(nanoseconds: row.since),
            parked: raw.parked, state: Self.state(raw), type: try types.type(row.type, db),
            created: FileTime(nanoseconds: row.created), added: FileTime(nanoseconds: row.added),
            generation: row.generation)
    }

    /// The base with its path; nil where there is none.
    mutating func baseRecord(_ raw: Raw, _ db: Database) throws -> BaseRecord? {
        guard let base = raw.row.base, var record = raw.baseRecord,
            let path = try basePaths.path(base.parent, base.name, db)
        else { return nil }
        record.path = path
        return record
    }

    private static func state(_ raw: Raw) -> ItemState {
        if raw.parked != nil { return .error }
        if raw.row.isLocalOnly { return .localOnly }
        if raw.hasConflict { return .conflict }
        if raw.row.local.isDataless { return .dataless }
        return raw.row.pending == 0 ? .current : .dirty
    }
}

extension Database {
    /// The id of the item at a path; nil when the index knows none.
    func itemID(at path: RelativePath, root: Int64) throws -> Int64? {
        var id = root
        for name in path.components {
            guard let next = try itemID(id, name) else { return nil }
            id = next
        }
        return id
    }

    /// The id of the item that is called so in a directory; nil when the index knows none.
    func itemID(_ directory: Int64, _ name: FileName) throws -> Int64? {
        try first("SELECT id FROM items WHERE parent = ? AND name = ?", .integer(directory), .blob(name.bytes)) {
            $0.integer(0)
        }
    }
}
