import GRDB
package import QuireCore

/// A placeholder that stands for something whose deletion is held: it was moved to where it cannot have its content,
/// and what it stands for has that alone.
package struct StrandedPlaceholder: Sendable, Hashable {
    package var id: ItemID
    /// Below the drive's root.
    package var path: RelativePath
    /// When it came there.
    package var since: FileTime
    /// Whose provider has the content.
    package var container: ContainerID
    /// Where it has it, below the container's root.
    package var basePath: RelativePath
}

/// Deletions of what a placeholder elsewhere needs.
///
/// ```
/// placeholder without a base ─▶ its mark names an orphan, or may do so ─▶ confirming leaves that orphan `needed`,
///                                                                         and the directories that it lies in
/// it is deleted where it lies, and deletions are confirmed once more   ─▶ an orphan as others
/// ```
extension MetadataIndex {
    /// Where the placeholders without a base lie, below the drive's root; none are told while no deletion is held.
    package func baselessPlaceholders() async throws(IndexError) -> [ItemID: RelativePath] {
        let root = root
        return try await read("placeholders without a base") { db in
            guard try db.holdsDeletes() else { return [:] }
            var paths = PathBuilder.items(root: root)
            var found: [ItemID: RelativePath] = [:]
            for id in try NeededBases.placeholders(db).map(\.id) {
                found[ItemID(id)] = try paths.path(id, db)
            }
            return found
        }
    }

    /// The placeholders that deletions are held for.
    ///
    /// - Parameter marks: what those of `baselessPlaceholders` say of themselves; one that is not among them may stand
    ///   for anything of its size.
    package func strandedPlaceholders(
        marks: [ItemID: Placeholder]
    ) async throws(IndexError) -> [StrandedPlaceholder] {
        let root = root
        return try await read("placeholders that were moved") { db in
            guard try db.holdsDeletes() else { return [] }
            var (paths, bases) = (PathBuilder.items(root: root), PathBuilder.bases)
            return try NeededBases(marks, db).examples.compactMap { item, base in
                guard let path = try paths.path(item.id, db), let basePath = try bases.path(base.id, db) else {
                    return nil
                }
                return StrandedPlaceholder(
                    id: ItemID(item.id), path: path, since: FileTime(nanoseconds: item.since),
                    container: ContainerID(unchecked: base.container), basePath: basePath)
            }
        }
    }

    /// The deletions that are held as they are so many, of each container that has some.
    ///
    /// - Parameter limit: most that are named of each.
    package func heldDeletes(naming limit: Int) async throws(IndexError) -> [HeldDeletes] {
        try await read("deletions that are held") { db in
            guard try db.holdsDeletes() else { return [] }
            let held = "FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan >= \(try db.leastHeld())"
            let counts = try db.all("SELECT container, count(*) \(held) GROUP BY container ORDER BY container") {
                (container: $0.text(0), count: Int($0.integer(1)))
            }
            var paths = PathBuilder.bases
            return try counts.map { container, count in
                let first = try db.all(
                    "SELECT id \(held) AND container = ? ORDER BY id LIMIT ?", .text(container),
                    .integer(Int64(limit)), read: { $0.integer(0) })
                return HeldDeletes(
                    container: ContainerID(unchecked: container), count: count,
                    first: try first.compactMap { try paths.path($0, db) })
            }
        }
    }

    /// What was missing at the rescan was deleted indeed: deletions go on, but those of what a placeholder elsewhere
    /// needs.
    ///
    /// - Parameter marks: as for `strandedPlaceholders`.
    /// - Returns: how many go on.
    @discardableResult
    package func confirmDeletes(marks: [ItemID: Placeholder] = [:]) async throws(IndexError) -> Int {
        let count = try await write("confirming deletions") { db in
            guard try db.holdsDeletes() else { return 0 }
            let needed = try NeededBases(marks, db)
            let before = try db.heldDeletes()
            try db.run(
                "UPDATE bases INDEXED BY bases_held SET orphan = 1 WHERE orphan <> 0 AND orphan = \(OrphanState.needed)"
            )
            for id in try needed.withDirectories(db) {
                try db.run("UPDATE bases SET orphan = \(OrphanState.needed) WHERE id = ? AND orphan > 0", .integer(id))
            }
            try db.setMeta(MetaKey.heldDeletes, nil)
            try db.setMeta(MetaKey.neededBases, needed.ids.isEmpty ? nil : "1")
            return max(0, before - (try db.heldDeletes()))
        }
        progress.tick()
        return count
    }
}

/// Deletions of one container's documents that are held, as these are missing here.
package struct HeldDeletes: Sendable, Hashable {
    package var container: ContainerID
    package var count: Int
    /// The provider's places of the first of them, below the container's root.
    package var first: [RelativePath]
}

/// Values of `bases.orphan`, which is 0 where an item is linked to the base.
enum OrphanState {
    /// To be deleted at the provider.
    static let deleted: Int64 = 1
    /// Linked by nobody, and not to be deleted: a placeholder elsewhere needs it.
    static let needed: Int64 = 2

    /// Its item was moved to another container, and is not at the provider of that yet; then it is to be deleted.
    static func awaiting(_ item: Int64) -> Int64 { -item }

    /// The item whose arrival elsewhere a base waits for; nil for any other state.
    static func awaited(_ state: Int64) -> Int64? { state < 0 ? -state : nil }
}

/// Which bases that are linked by nobody placeholders without a base may stand for.
private struct NeededBases {
    struct Item {
        var id: Int64
        var size: Int64
        var since: Int64
    }

    struct Base {
        var id: Int64
        var container: String
        var version: ProviderVersion
        var checksum: ContentChecksum?
        var size: Int64

        func isNamed(by mark: Placeholder) -> Bool {
            guard container == mark.container.rawValue else { return false }
            return version == mark.version || checksum != nil && checksum == mark.checksum
        }

        /// Whether nothing speaks against it.
        func mayBeNamed(by mark: Placeholder) -> Bool {
            guard container == mark.container.rawValue else { return false }
            guard let checksum, let named = mark.checksum else { return true }
            return checksum == named
        }
    }

    private(set) var ids: Set<Int64> = []
    /// Each placeholder that needs some, with one of them.
    private(set) var examples: [(item: Item, base: Base)] = []

    init(_ marks: [ItemID: Placeholder], _ db: Database) throws {
        let items = try Self.placeholders(db)
        guard !items.isEmpty else { return }
        let orphans = try db.all(
            """
            SELECT id, container, version, checksum, size FROM bases INDEXED BY bases_held \
            WHERE orphan <> 0 AND orphan > 0 AND kind = 0
            """
        ) {
            Base(
                id: $0.integer(0), container: $0.text(1), version: ProviderVersion($0.text(2)),
                checksum: $0.optionalBlob(3).flatMap { ContentChecksum(bytes: $0) }, size: $0.integer(4))
        }
        let bySize = Dictionary(grouping: orphans) { $0.size }
        for item in items {
            let sized = bySize[item.size] ?? []
            let needed = try Self.needed(by: marks[ItemID(item.id)], sized, db)
            ids.formUnion(needed.lazy.map(\.id))
            if let base = needed.first { examples.append((item, base)) }
        }
    }

    private static func needed(by mark: Placeholder?, _ sized: [Base], _ db: Database) throws -> [Base] {
        guard let mark else { return sized }
        let named = sized.filter { $0.isNamed(by: mark) }
        let fitting = sized.filter { $0.mayBeNamed(by: mark) }
        guard named.isEmpty, !fitting.isEmpty else { return named }
        // A copy of a placeholder whose document is there.
        return try db.hasBase(of: mark) ? [] : fitting
    }

    /// Placeholders that stand for nothing that is known.
    static func placeholders(_ db: Database) throws -> [Item] {
        try db.all("SELECT id, size, since FROM items WHERE dataless = 1 AND base IS NULL AND kind = 0") {
            Item(id: $0.integer(0), size: $0.integer(1), since: $0.integer(2))
        }
    }

    /// Their ids, and those of the directories that they lie in: removed at the provider, these would take them along.
    func withDirectories(_ db: Database) throws -> Set<Int64> {
        var found: Set<Int64> = []
        for id in ids {
            var next = id
            while next != 0, found.insert(next).inserted {
                next =
                    try db.first("SELECT parent FROM bases WHERE id = ?", .integer(next), read: { $0.integer(0) }) ?? 0
            }
        }
        return found
    }
}

extension Database {
    /// Whether deletions, or some, are held.
    func holdsDeletes() throws -> Bool { try meta(MetaKey.heldDeletes) != nil || meta(MetaKey.neededBases) != nil }

    /// How many deletions are held: all, or those of what is needed elsewhere.
    func heldDeletes() throws -> Int {
        guard try holdsDeletes() else { return 0 }
        return try first(
            "SELECT count(*) FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan >= ?",
            .integer(try leastHeld()), read: { Int($0.integer(0)) }) ?? 0
    }

    /// From which `OrphanState` on deletions are held, where some are.
    func leastHeld() throws -> Int64 { try meta(MetaKey.heldDeletes) == nil ? OrphanState.needed : 1 }

    /// Whether a placeholder's mark names a version that a provider has, as far as is known. Reads all bases.
    func hasBase(of mark: Placeholder) throws -> Bool {
        try first(
            "SELECT 1 FROM bases WHERE container = ? AND version = ? LIMIT 1", .text(mark.container.rawValue),
            .text(mark.version.rawValue), read: { _ in true }) ?? false
    }
}
