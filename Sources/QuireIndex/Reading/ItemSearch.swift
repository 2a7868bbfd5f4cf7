import GRDB
import QuireCore

/// Carries out one query, for the length of one read.
///
/// What an index of the database finds is asked of it, and ordered afterwards. Where most of the tree would be found, it is
/// walked in its order instead, with each item tested: the same items, and memory for their ids only, or for what they are
/// ordered by.
struct ItemSearch {
    /// How many are ordered in memory.
    static let mostSorted = 200_000

    private let query: ItemQuery
    private let condition: QueryCondition
    private let root: Int64
    private var reader: ItemReader

    /// - Parameter trigrams: asked only where the query is for a pattern of names.
    init(_ query: ItemQuery, root: Int64, _ trigrams: TrigramSample, _ db: Database) throws {
        self.query = query
        self.root = root
        let frequencies = try query.hasNamePattern ? trigrams.frequencies(db) : .unknown
        condition = QueryCompiler(transfers: query.transfers, frequencies: frequencies).condition(query)
        reader = ItemReader(root: root)
    }

    /// What matches, in order.
    mutating func run(_ db: Database) throws -> [Found] {
        guard let start = try db.itemID(at: query.under, root: root) else { return [] }
        let found: [Found]
        if query.under.isRoot || condition.isSelective, let sorted = try candidates(db) {
            found = sorted
        } else if query.order.isEmpty {
            found = try walk(start, db) { Found(id: $0.id.rawValue, path: nil) }
        } else {
            let query = query
            found = SortKey.sorted(try walk(start, db) { SortKey($0, query) })
        }
        return query.limit < found.count ? Array(found.prefix(query.limit)) : found
    }

    mutating func count(_ db: Database) throws -> Int {
        guard query.under.isRoot, condition.isExact, query.limit == .max else { return try run(db).count }
        return try all("SELECT count(*) \(Self.tables) \(matching)", db) { Int($0.integer(0)) }[0]
    }

    /// The items with these ids; those that are there no more are left out.
    mutating func items(_ ids: [Int64], _ db: Database) throws -> [IndexItem] {
        try reader.items(ids, db)
    }

    /// Where these are; those that are there no more are left out.
    mutating func paths(_ found: some Collection<Found>, _ db: Database) throws -> [RelativePath] {
        try found.compactMap { try $0.path ?? reader.itemPaths.path($0.id, db) }
    }

    // MARK: By the database's indexes

    private static let tables = "FROM items i LEFT JOIN bases b ON b.id = i.base\(ItemReader.parked)"
    /// Neither the drive's root nor what a rescan is about to place.
    private var matching: String { "WHERE \(condition.sql) AND i.role <> 2 AND i.parent > 0" }

    /// What SQL finds, sorted; nil where that is too much.
    private mutating func candidates(_ db: Database) throws -> [Found]? {
        if !condition.isExact || !query.order.isEmpty {
            let rows = try all(
                ItemReader.select + matching + " LIMIT \(Self.mostSorted + 1)", db, read: ItemReader.raw)
            guard rows.count <= Self.mostSorted else { return nil }
            let words = try words(db)
            let keys = try rows.compactMap { row -> SortKey? in
                guard let item = try reader.item(row, db), item.path.isBelow(query.under),
                    query.matches(item, words: try words.fulfilled(by: item.id.rawValue, db))
                else { return nil }
                return SortKey(item, query)
            }
            return SortKey.sorted(keys)
        }
        var places = SortedPlaces()
        let sql = "SELECT i.id, i.parent, i.name \(Self.tables) \(matching) LIMIT \(Self.mostSorted + 1)"
        let rows: [Void] = try all(sql, db) { row in
            guard let directory = try reader.itemPaths.path(row.integer(1), db), directory.isInside(query.under)
            else { return }
            row.withBytes(2) { places.add(row.integer(0), in: directory, $0) }
        }
        return rows.count <= Self.mostSorted ? places.sorted() : nil
    }

    /// For the test of each item by itself.
    private func words(_ db: Database) throws -> ContentWords {
        try ContentWords(all: query.predicate?.wordPatterns ?? [], db)
    }

    private func all<Value>(_ sql: String, _ db: Database, read: (SQLRow) throws -> Value) throws -> [Value] {
        try db.all(sql, condition.values, isKept: condition.isCommon, read: read)
    }

    // MARK: By walking

    /// What `make` makes of the items that match; of the items themselves nothing stays.
    private mutating func walk<Value>(
        _ start: Int64, _ db: Database, _ make: (IndexItem) -> Value
    ) throws -> [Value] {
        var found: [Value] = []
        let words = try words(db)
        let limit = query.order.isEmpty ? query.limit : .max
        var stack = try children(start, query.under, db)
        while let (raw, path) = stack.popLast(), found.count < limit {
            let item = try reader.item(raw, at: path, db)
            if query.matches(item, words: try words.fulfilled(by: raw.row.id, db)) { found.append(make(item)) }
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
}

extension ItemQuery {
    /// Whether names are compared with a pattern: a text by itself is found without looking at parts.
    fileprivate var hasNamePattern: Bool { nameGlob != nil || predicate?.hasNamePattern ?? false }
}

extension QueryPredicate {
    fileprivate var hasNamePattern: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains(where: \.hasNamePattern)
        case .not(let part): part.hasNamePattern
        case .compare(.name, _, .text(let pattern)):
            pattern.ignoresCase || pattern.ignoresDiacritics || pattern.text.contains { "*?".contains($0) }
        case .compare, .range: false
        }
    }
}
