import GRDB
package import QuireCore

extension MetadataIndex {
    /// Everything of the container whose local state is not the provider's.
    ///
    /// First what is here, directories before what lies in them; then what was deleted, the deepest first. Something
    /// below a renamed directory is not pending for that. Deletions are left out while they are held (`heldDeletes`).
    package func pendingItems(container: ContainerID) async throws(IndexError) -> [PendingItem] {
        let root = root
        return try await read("pending items") { db in
            var reader = ItemReader(root: root)
            let rows = try db.all(
                ItemReader.select + "WHERE i.container = ? AND i.pending <> 0", .text(container.rawValue),
                read: ItemReader.raw)
            let containerRoot = try Self.rootPath(of: container, &reader, db)
            var present: [PendingItem] = []
            var deleted: [PendingItem] = []
            let parked = try Self.parkedBases(container, db)
            for raw in rows {
                if raw.row.isLocalOnly {
                    if let base = try reader.baseRecord(raw, db) {
                        deleted.append(.deleted(base, since: raw.row.since, parked: parked[base.path]))
                    }
                } else if let item = try reader.item(raw, db),
                    let path = containerRoot.flatMap({ item.path.removing(ancestor: $0) })
                {
                    present.append(.present(item, at: path))
                }
            }
            guard try db.meta(MetaKey.heldDeletes) == nil else { return present.sortedByDepth() }
            deleted += try Self.tombstones(container, &reader, parked, db)
            return present.sortedByDepth() + deleted.sortedByDepth().reversed()
        }
    }

    /// The base tree of a container, in no particular order, with the items linked to it.
    package func baseTree(container: ContainerID) async throws(IndexError) -> [BaseEntry] {
        let root = root
        return try await read("the base tree") { db in
            var reader = ItemReader(root: root)
            let rows = try db.all(
                "SELECT \(BaseRecord.columns) FROM bases b WHERE b.container = ?", .text(container.rawValue)
            ) { ($0.integer(0), $0.integer(2), $0.blob(3), BaseRecord($0, path: .root)) }
            let items = try db.all(
                ItemReader.selectByBase + "WHERE b.container = ? AND i.id IS NOT NULL", .text(container.rawValue),
                read: ItemReader.raw)
            var byBase: [Int64: ItemReader.Raw] = [:]
            for raw in items { if let base = raw.row.base { byBase[base.id] = raw } }
            return try rows.compactMap { id, parent, name, record in
                guard let path = try reader.basePaths.path(parent, name, db) else { return nil }
                var base = record
                base.path = path
                return BaseEntry(base: base, item: try byBase[id].flatMap { try reader.item($0, db) })
            }
        }
    }

    /// How many deletions are held until they are confirmed; 0 when none are.
    package func heldDeletes() async throws(IndexError) -> Int {
        try await read("held deletions") { db in
            guard try db.meta(MetaKey.heldDeletes) != nil else { return 0 }
            return try db.first("SELECT count(*) FROM bases WHERE orphan = 1", read: { Int($0.integer(0)) }) ?? 0
        }
    }

    /// What was missing at the rescan was deleted indeed: deletions go on.
    package func confirmDeletes() async throws(IndexError) {
        try await write("confirming deletions") { try $0.setMeta(MetaKey.heldDeletes, nil) }
        progress.tick()
    }

    /// The container's root below the drive's; nil when it is not there.
    private static func rootPath(
        of container: ContainerID, _ reader: inout ItemReader, _ db: Database
    ) throws -> RelativePath? {
        if container == .default { return .root }
        let id = try db.first("SELECT id FROM items WHERE role = 1 AND container = ?", .text(container.rawValue)) {
            $0.integer(0)
        }
        return try id.flatMap { try reader.itemPaths.path($0, db) }
    }

    private static func tombstones(
        _ container: ContainerID, _ reader: inout ItemReader, _ parked: [RelativePath: ParkedError], _ db: Database
    ) throws -> [PendingItem] {
        let rows = try db.all(
            "SELECT \(BaseRecord.columns), b.since FROM bases b WHERE b.container = ? AND b.orphan = 1",
            .text(container.rawValue)
        ) { ($0.integer(2), $0.blob(3), BaseRecord($0, path: .root), $0.integer(12)) }
        return try rows.compactMap { parent, name, record, since in
            guard let path = try reader.basePaths.path(parent, name, db) else { return nil }
            var base = record
            base.path = path
            return .deleted(base, since: since, parked: parked[path])
        }
    }

    private static func parkedBases(_ container: ContainerID, _ db: Database) throws -> [RelativePath: ParkedError] {
        let rows = try db.all(
            "SELECT path, message, code, since FROM parked WHERE item = 0 AND container = ?", .text(container.rawValue)
        ) {
            (
                RelativePath(unchecked: $0.blob(0)),
                ParkedError(message: $0.text(1), code: $0.text(2), since: FileTime(nanoseconds: $0.integer(3)))
            )
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }
}

extension PendingItem {
    fileprivate static func present(_ item: IndexItem, at path: RelativePath) -> PendingItem {
        PendingItem(
            id: item.id, container: item.container, path: path, kind: item.local.kind, local: item.local,
            base: item.base, difference: item.difference, writersOpen: item.writersOpen, isPinned: item.isPinned,
            since: item.since, parked: item.parked)
    }

    fileprivate static func deleted(_ base: BaseRecord, since: Int64, parked: ParkedError?) -> PendingItem {
        PendingItem(
            id: nil, container: base.container, path: nil, kind: base.kind, local: nil, base: base,
            difference: .deleted, writersOpen: false, isPinned: false, since: FileTime(nanoseconds: since),
            parked: parked)
    }
}

extension [PendingItem] {
    /// By depth, then by path.
    fileprivate func sortedByDepth() -> [PendingItem] {
        map { item -> (depth: Int, path: [UInt8], item: PendingItem) in
            let path = (item.path ?? item.base?.path ?? .root).bytes
            return (path.count { $0 == UInt8(ascii: "/") }, path, item)
        }
        .sorted { $0.depth != $1.depth ? $0.depth < $1.depth : $0.path.lexicographicallyPrecedes($1.path) }
        .map(\.item)
    }
}
