import GRDB
package import QuireCore

extension MetadataIndex {
    /// The base tree of a container, in no particular order, with the items linked to it.
    package func baseTree(container: ContainerID) async throws(IndexError) -> [BaseEntry] {
        try await baseTree(container: container) { BaseEntry(base: $0, item: $1) }
    }

    /// The same, as `make` makes each of it: at once, as all items together may be hundreds of megabytes. Nil is left out.
    package func baseTree<Entry: Sendable>(
        container: ContainerID, _ make: @escaping @Sendable (BaseRecord, IndexItem?) -> Entry?
    ) async throws(IndexError) -> [Entry] {
        let root = root
        return try await read("the base tree") { db in
            var reader = ItemReader(root: root)
            var entries: [Entry] = []
            var found: Set<Int64> = []
            try db.forEach(
                ItemReader.selectByBase + "WHERE b.container = ? AND i.id IS NOT NULL", .text(container.rawValue)
            ) { row in
                guard let (id, base, item) = try reader.linked(row, db), found.insert(id).inserted else { return }
                if let entry = make(base, item) { entries.append(entry) }
            }
            // What is not here any more, or in no directory.
            try db.forEach(
                "SELECT \(BaseRecord.columns) FROM bases b WHERE b.container = ?", .text(container.rawValue)
            ) { row in
                guard !found.contains(row.integer(0)), let base = try reader.base(row, db) else { return }
                if let entry = make(base, nil) { entries.append(entry) }
            }
            return entries
        }
    }

    /// As much of the base tree as a plan for these changes needs (`BaseScope`), in no particular order.
    package func baseTree<Entry: Sendable>(
        container: ContainerID, for changes: BaseScope,
        _ make: @escaping @Sendable (BaseRecord, IndexItem?) -> Entry
    ) async throws(IndexError) -> [Entry] {
        let root = root
        return try await read("a part of the base tree") { db in
            var reader = ItemReader(root: root)
            var entries: [Entry] = []
            for id in try BaseScopeReader.bases(changes, of: container, db) {
                let linked = try db.first(
                    ItemReader.selectByBase + "WHERE b.id = ? AND i.id IS NOT NULL", .integer(id)
                ) { try reader.linked($0, db) }
                if let (_, base, item) = linked ?? nil {
                    entries.append(make(base, item))
                    continue
                }
                let base = try db.first("SELECT \(BaseRecord.columns) FROM bases b WHERE b.id = ?", .integer(id)) {
                    try reader.base($0, db)
                }
                if let base = base ?? nil { entries.append(make(base, nil)) }
            }
            return entries
        }
    }

    /// How many items the container's provider has acknowledged.
    package func baseCount(container: ContainerID) async throws(IndexError) -> Int {
        try await read("how many bases there are") { db in
            try db.first("SELECT count(*) FROM bases WHERE container = ?", .text(container.rawValue)) {
                Int($0.integer(0))
            } ?? 0
        }
    }
}

extension ItemReader {
    /// A row of `selectByBase`: the base and the item linked to it; nil where that is in no directory.
    fileprivate mutating func linked(
        _ row: SQLRow, _ db: Database
    ) throws -> (id: Int64, base: BaseRecord, item: IndexItem)? {
        let raw = Self.raw(row)
        guard let id = raw.row.base?.id, let item = try item(raw, db), let base = item.base else { return nil }
        return (id, base, item)
    }

    /// A row of `BaseRecord.columns`; nil where it is in no directory.
    fileprivate mutating func base(_ row: SQLRow, _ db: Database) throws -> BaseRecord? {
        guard let path = try basePaths.path(row.integer(2), row.blob(3), db) else { return nil }
        return BaseRecord(row, path: path)
    }
}
