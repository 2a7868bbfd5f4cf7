import GRDB
import QuireCore

/// Carries out one query, for the length of one read.
///
/// What an index of the database finds is asked of it, and ordered afterwards. Where most of the tree would be found, it is
/// walked in its order instead, with each item tested: the same items, and memory for their ids only.
struct ItemSearch {
    /// How many are ordered in memory.
    static let mostSorted = 200_000

    private let query: ItemQuery
    private let condition: QueryCondition
    private let root: Int64
    private var reader: ItemReader

    init(_ query: ItemQuery, root: Int64) {
        self.query = query
        self.root = root
        condition = QueryCompiler(transfers: query.transfers).condition(query)
        reader = ItemReader(root: root)
    }

    /// The ids, in order.
    mutating func run(_ db: Database) throws -> [Int64] {
        guard let start = try db.itemID(at: query.under, root: root) else { return [] }
        let found: [Int64]
        if query.under.isRoot || condition.isSelective, let sorted = try candidates(db) {
            found = sorted
        } else if query.order.isEmpty {
            found = try walk(start, db)
        } else {
            found = try sorted(try walk(start, db), db)
        }
        return query.limit < found.count ? Array(found.prefix(query.limit)) : found
    }

    mutating func count(_ db: Database) throws -> Int {
        guard query.under.isRoot, condition.isExact, query.limit == .max else { return try run(db).count }
        return try db.allOnce("SELECT count(*) \(Self.tables) \(matching)", condition.values) { Int($0.integer(0)) }[0]
    }

    /// The items with these ids; those that are there no more are left out.
    mutating func items(_ ids: [Int64], _ db: Database) throws -> [IndexItem] {
        try ids.compactMap { try reader.item($0, db) }
    }

    // MARK: By the database's indexes

    private static let tables = "FROM items i LEFT JOIN bases b ON b.id = i.base\(ItemReader.parked)"
    /// Neither the drive's root nor what a rescan is about to place.
    private var matching: String { "WHERE \(condition.sql) AND i.role <> 2 AND i.parent > 0" }

    /// What SQL finds, sorted; nil where that is too much.
    private mutating func candidates(_ db: Database) throws -> [Int64]? {
        if !condition.isExact || !query.order.isEmpty {
            let rows = try db.allOnce(
                ItemReader.select + matching + " LIMIT \(Self.mostSorted + 1)", condition.values, read: ItemReader.raw)
            guard rows.count <= Self.mostSorted else { return nil }
            let items = try rows.compactMap { try reader.item($0, db) }
            let found = items.filter { $0.path.isBelow(query.under) && query.matches($0) }
            return SortKey.sorted(found.map { SortKey($0, query) })
        }
        let rows = try db.allOnce(
            "SELECT i.id, i.parent, i.name \(Self.tables) \(matching) LIMIT \(Self.mostSorted + 1)", condition.values
        ) { ($0.integer(0), $0.integer(1), $0.blob(2)) }
        guard rows.count <= Self.mostSorted else { return nil }
        let keys = try rows.compactMap { id, parent, name -> SortKey? in
            guard let path = try reader.itemPaths.path(parent, name, db) else { return nil }
            return path.isBelow(query.under) ? SortKey(id: id, path: path) : nil
        }
        return SortKey.sorted(keys)
    }

    // MARK: By walking

    private mutating func walk(_ start: Int64, _ db: Database) throws -> [Int64] {
        var found: [Int64] = []
        let limit = query.order.isEmpty ? query.limit : .max
        var stack = try children(start, query.under, db)
        while let (raw, path) = stack.popLast(), found.count < limit {
            if query.matches(try reader.item(raw, at: path, db)) { found.append(raw.row.id) }
            if raw.row.local.kind == .directory { stack += try children(raw.row.id, path, db) }
        }
        return found
    }

    /// In reverse, as a stack takes them.
    private func children(
        _ directory: Int64, _ path: RelativePath, _ db: Database
    ) throws -> [(ItemReader.Raw, RelativePath)] {
        let rows = try db.all(
            ItemReader.select + "WHERE i.parent = ? ORDER BY i.name DESC", .integer(directory), read: ItemReader.raw)
        return rows.map { ($0, path.appending(FileName(unchecked: $0.row.name))) }
    }

    private mutating func sorted(_ ids: [Int64], _ db: Database) throws -> [Int64] {
        SortKey.sorted(try items(ids, db).map { SortKey($0, query) })
    }
}
