import GRDB
package import QuireCore

extension MetadataIndex {
    /// The item at a path below the drive's root.
    package func item(at path: RelativePath) async throws(IndexError) -> IndexItem? {
        let root = root
        return try await read("an item") { db in
            guard let id = try db.itemID(at: path, root: root) else { return nil }
            return try Self.item(id, root, db)
        }
    }

    /// The items at these paths below the drive's root, in one read; where there is none, none is told.
    package func items(at paths: [RelativePath]) async throws(IndexError) -> [IndexItem] {
        guard !paths.isEmpty else { return [] }
        let root = root
        return try await read("items") { db in
            var directories: [RelativePath: Int64?] = [.root: root]
            func id(_ path: RelativePath) throws -> Int64? {
                guard let parent = path.parent, let name = path.name else { return root }
                if directories[parent] == nil { directories[parent] = .some(try id(parent)) }
                return try (directories[parent] ?? nil).flatMap { try db.itemID($0, name) }
            }
            var reader = ItemReader(root: root)
            return try reader.items(paths.compactMap(id), db)
        }
    }

    /// The item with this id.
    package func item(_ id: ItemID) async throws(IndexError) -> IndexItem? {
        let root = root
        return try await read("an item") { try Self.item(id.rawValue, root, $0) }
    }

    /// All names of the file, or the one of the directory, with this inode in the store.
    package func items(inode: UInt64) async throws(IndexError) -> [IndexItem] { try await items(inodes: [inode]) }

    /// The same of several, in one read.
    package func items(inodes: some Collection<UInt64> & Sendable) async throws(IndexError) -> [IndexItem] {
        guard !inodes.isEmpty else { return [] }
        let root = root
        return try await read("inodes") { db in
            var reader = ItemReader(root: root)
            return try inodes.flatMap { inode in
                let rows = try db.all(
                    ItemReader.select + "WHERE i.inode = ? ORDER BY i.id", .integer(Int64(bitPattern: inode)),
                    read: ItemReader.raw)
                return try rows.compactMap { try reader.item($0, db) }
            }
        }
    }

    /// Where the item is, below the drive's root.
    package func path(of id: ItemID) async throws(IndexError) -> RelativePath? {
        let root = root
        return try await read("a path") { db in
            var paths = PathBuilder.items(root: root)
            return try paths.path(id.rawValue, db)
        }
    }

    /// What lies directly in the directory at `path`, by name; empty when it is no directory that the index knows.
    package func children(of path: RelativePath) async throws(IndexError) -> [IndexItem] {
        let root = root
        return try await read("a directory") { db in
            guard let id = try db.itemID(at: path, root: root) else { return [] }
            let rows = try db.all(
                ItemReader.select + "WHERE i.parent = ? ORDER BY i.name", .integer(id), read: ItemReader.raw)
            var reader = ItemReader(root: root)
            return try rows.map { try reader.item($0, at: path.appending(FileName(unchecked: $0.row.name)), db) }
        }
    }

    /// What the provider has directly in a directory of a container, by the bases, below whose root `directory` is; empty where it
    /// has no such directory.
    package func baseNames(
        _ container: ContainerID, in directory: RelativePath
    ) async throws(IndexError) -> [BaseName] {
        try await read("a provider's directory") { db in
            guard let parent = try db.baseID(container, at: directory) else { return [] }
            return try db.all(
                "SELECT name, orphan = 1, version, identifier FROM bases WHERE container = ? AND parent = ?",
                .text(container.rawValue), .integer(parent)
            ) {
                BaseName(
                    name: FileName(unchecked: $0.blob(0)), isDeleted: $0.flag(1),
                    version: ProviderVersion($0.text(2)), identifier: $0.optionalText(3))
            }
        }
    }

    /// Where the conflict copies are, by their names; ordered by path.
    package func conflictCopies() async throws(IndexError) -> [RelativePath] {
        let root = root
        return try await read("conflict copies") { db in
            let places = try db.all("SELECT parent, name FROM items WHERE conflict_of IS NOT NULL") {
                ($0.integer(0), $0.blob(1))
            }
            var paths = PathBuilder.items(root: root)
            return try places.compactMap { try paths.path($0, $1, db) }
                .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        }
    }

    /// How much there is, and how much is pending.
    package func counts() async throws(IndexError) -> IndexCounts {
        try await read("counts") { db in
            var counts = IndexCounts()
            func count(_ sql: String) throws -> Int { try db.first(sql, read: { Int($0.integer(0)) }) ?? 0 }
            counts.items = try count("SELECT count(*) FROM items") - count("SELECT count(*) FROM items WHERE role <> 0")
            counts.conflicts = try count("SELECT count(*) FROM items WHERE conflict_of IS NOT NULL")
            counts.dataless = try count("SELECT count(*) FROM items WHERE dataless = 1")
            counts.parked = try count("SELECT count(*) FROM parked")
            counts.pendingDeletes = try count(
                "SELECT count(*) FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan < 2")
            let pending = try db.all("SELECT pending, count(*) FROM items WHERE pending <> 0 GROUP BY pending") {
                (LocalDifference(rawValue: $0.integer(0)), Int($0.integer(1)))
            }
            for (difference, number) in pending {
                if !difference.isDisjoint(with: [.created, .content, .metadata]) { counts.pendingUploads += number }
                if difference.contains(.moved) { counts.pendingRenames += number }
                if difference.contains(.deleted) { counts.pendingDeletes += number }
            }
            return counts
        }
    }

    private static func item(_ id: Int64, _ root: Int64, _ db: Database) throws -> IndexItem? {
        var reader = ItemReader(root: root)
        return try reader.item(id, db)
    }
}
