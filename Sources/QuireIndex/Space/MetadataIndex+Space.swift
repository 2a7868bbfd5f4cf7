import GRDB
package import QuireCore

/// What space limits need to know.
extension MetadataIndex {
    /// Files with content that is here.
    private static let here = "kind = 0 AND dataless = 0"
    /// Of these: uploaded, as and where it was uploaded, and not to be kept.
    private static let evictable = """
        pinned = 0 AND local_only = 0 AND base IS NOT NULL AND writers = 0 AND pending & 11 = 0 AND size > 0
        """

    /// How much content is here; one pass over the rows.
    package func spaceUse() async throws(IndexError) -> SpaceUse {
        try await read("the space in use") { db in
            let use = try db.first(
                """
                SELECT total(size / max(nlink, 1)), total(CASE WHEN \(Self.evictable) THEN size / max(nlink, 1) ELSE 0 END)
                FROM items WHERE \(Self.here)
                """
            ) { SpaceUse(here: Int64(clamping: $0.real(0)), evictable: Int64(clamping: $0.real(1))) }
            return use ?? SpaceUse(here: 0, evictable: 0)
        }
    }

    /// How much of `SpaceUse.evictable` is of these versions; one pass over the container's rows.
    ///
    /// - Parameter versions: of the container's documents; nil for all.
    package func evictableBytes(
        _ container: ContainerID, of versions: Set<ProviderVersion>?
    ) async throws(IndexError) -> Int64 {
        try await read("what cannot be evicted") { db in
            let rows = try db.all(
                """
                SELECT b.version, i.size / max(i.nlink, 1) FROM (
                    SELECT base, size, nlink FROM items WHERE container = ? AND \(Self.here) AND \(Self.evictable)) i
                JOIN bases b ON b.id = i.base
                """, .text(container.rawValue)
            ) { row in versions?.contains(ProviderVersion(row.text(0))) ?? true ? row.integer(1) : 0 }
            return rows.reduce(0) { $0.addingClamped($1) }
        }
    }

    /// A page of what can be taken off this device, by id.
    ///
    /// - Parameters:
    ///   - id: the last of the page before; nil for the first page.
    ///   - limit: 1 or more; an empty page is the last.
    package func evictableFiles(after id: ItemID?, limit: Int) async throws(IndexError) -> [EvictableFile] {
        let root = root
        return try await read("what can be evicted") { db in
            var paths = PathBuilder.items(root: root)
            let rows = try db.all(
                """
                SELECT id, parent, name, size FROM items WHERE id > ? AND \(Self.here) AND \(Self.evictable)
                ORDER BY id LIMIT ?
                """, .integer(id?.rawValue ?? .min), .integer(Int64(limit))
            ) { (ItemID($0.integer(0)), $0.integer(1), $0.blob(2), $0.integer(3)) }
            return try rows.compactMap { id, parent, name, size in
                try paths.path(parent, name, db).map { EvictableFile(id: id, path: $0, size: size) }
            }
        }
    }

    /// A page, by id, of files whose content is here as the provider has it, and of which nobody has counted the checksum.
    ///
    /// - Parameters:
    ///   - id: the last of the page before; nil for the first page.
    ///   - limit: 1 or more; an empty page is the last.
    package func uncountedFiles(after id: ItemID?, limit: Int) async throws(IndexError) -> [IndexItem] {
        let root = root
        return try await read("what has no checksum") { db in
            let rows = try db.all(
                ItemReader.select + """
                    WHERE i.id IN (
                        SELECT f.id FROM items f JOIN bases b ON b.id = f.base
                        WHERE f.id > ? AND f.kind = 0 AND f.dataless = 0 AND f.local_only = 0 AND f.writers = 0
                        AND f.pending & 11 = 0 AND f.size > 0 AND b.checksum IS NULL ORDER BY f.id LIMIT ?)
                    ORDER BY i.id
                    """, .integer(id?.rawValue ?? .min), .integer(Int64(limit)), read: ItemReader.raw)
            var reader = ItemReader(root: root)
            return try rows.compactMap { try reader.item($0, db) }
        }
    }

    /// Dataless files that are kept on this device only, and whose place at the provider another item here is to take.
    private static let displaced = """
        local_only = 1 AND dataless = 1 AND kind = 0 AND EXISTS (
            SELECT 1 FROM bases b JOIN items n ON n.name = b.name JOIN items p ON p.id = n.parent
            WHERE b.id = items.base AND n.base IS NULL AND n.local_only = 0 AND n.container = b.container
            AND CASE p.role WHEN 0 THEN p.base ELSE 0 END = b.parent)
        """

    /// A page, by id, of files whose content is to be here and is not: what is pinned, and what has the name of something that is
    /// kept on this device only while another item takes its place at the provider.
    ///
    /// - Parameters:
    ///   - id: the last of the page before; nil for the first page.
    ///   - limit: 1 or more; an empty page is the last.
    ///   - isLocalOnly: only what is kept on this device only.
    package func datalessToBring(
        after id: ItemID?, limit: Int, isLocalOnly: Bool = false
    ) async throws(IndexError) -> [IndexItem] {
        let root = root
        let pinned = "pinned = 1 AND dataless = 1 AND kind = 0" + (isLocalOnly ? " AND local_only = 1" : "")
        return try await read("what is to be kept here") { db in
            let rows = try db.all(
                ItemReader.select + """
                    WHERE i.id IN (
                        SELECT id FROM items WHERE \(pinned) AND id > ?1
                        UNION SELECT id FROM items WHERE \(Self.displaced) AND id > ?1
                        ORDER BY id LIMIT ?2)
                    ORDER BY i.id
                    """, .integer(id?.rawValue ?? .min), .integer(Int64(limit)), read: ItemReader.raw)
            var reader = ItemReader(root: root)
            return try rows.compactMap { try reader.item($0, db) }
        }
    }

    /// A file of the container whose content is not here; nil where all is here.
    package func datalessFile(in container: ContainerID) async throws(IndexError) -> RelativePath? {
        let root = root
        return try await read("what is not here") { db in
            var paths = PathBuilder.items(root: root)
            let id = try db.first(
                "SELECT id FROM items WHERE kind = 0 AND dataless = 1 AND container = ? LIMIT 1",
                .text(container.rawValue)
            ) { $0.integer(0) }
            return try id.flatMap { try paths.path($0, db) }
        }
    }

    /// How many files of the container are here, how many are placeholders, and the first of these, at most `limit`.
    package func contentPlaces(in container: ContainerID, limit: Int) async throws(IndexError) -> ContentPlaces {
        let root = root
        return try await read("what is here and what is not") { db in
            let name = SQLValue.text(container.rawValue)
            let counts = try db.first(
                "SELECT count(*), total(dataless) FROM items WHERE kind = 0 AND container = ?", name
            ) { (files: Int($0.integer(0)), elsewhere: Int($0.real(1))) }
            let ids = try db.all(
                "SELECT id FROM items WHERE kind = 0 AND dataless = 1 AND container = ? ORDER BY id LIMIT ?", name,
                .integer(Int64(limit))
            ) { $0.integer(0) }
            var paths = PathBuilder.items(root: root)
            let (files, elsewhere) = counts ?? (0, 0)
            return ContentPlaces(
                here: files - elsewhere, elsewhere: elsewhere, first: try ids.compactMap { try paths.path($0, db) })
        }
    }

    /// Keeps the content of an item here, and of all that is or comes below it; or no longer.
    ///
    /// - Returns: false when there is no such item.
    @discardableResult
    package func setPinned(_ id: ItemID, _ isPinned: Bool) async throws(IndexError) -> Bool {
        let isThere = try await write("pinning") { db in
            try db.setPinned(id.rawValue, isPinned)
            return db.changesCount > 0
        }
        progress.tick()
        return isThere
    }
}

extension Database {
    /// Pins an item's row and all below it, or takes that back. `changesCount` is 0 where there is no such row.
    func setPinned(_ id: Int64, _ isPinned: Bool) throws {
        try run(
            """
            UPDATE items SET pinned = ? WHERE id IN (
                WITH RECURSIVE below (id) AS (
                    VALUES (?) UNION ALL SELECT i.id FROM items i JOIN below ON i.parent = below.id)
                SELECT id FROM below)
            """, .flag(isPinned), .integer(id))
    }
}
