import GRDB
package import QuireCore

extension MetadataIndex {
    /// A part of what is pending in the container, with what it needs.
    ///
    /// Something below a renamed directory is not pending for that. Deletions are left out while they are held
    /// (`heldDeletes`).
    package func pendingPage(
        container: ContainerID, _ request: PendingRequest
    ) async throws(IndexError) -> PendingPage {
        let root = root
        return try await read("pending items") { db in
            let holdsDeletes = try db.meta(MetaKey.heldDeletes) != nil
            var reader = try PendingReader(
                container, root: root, holdsDeletes: holdsDeletes, allowance: request.companionLimit, db)
            return try reader.read(request)
        }
    }

    /// How much of the container is pending. Deletions are left out while they are held.
    package func pendingTotals(container: ContainerID) async throws(IndexError) -> PendingTotals {
        try await read("what is pending") { db in
            let rows = try db.all(
                """
                SELECT pending, count(*) FROM items INDEXED BY items_due WHERE container = ? AND pending <> 0 \
                GROUP BY pending
                """, .text(container.rawValue)
            ) { (LocalDifference(rawValue: $0.integer(0)), Int($0.integer(1))) }
            var totals = PendingTotals()
            for (difference, count) in rows {
                if difference.contains(.deleted) {
                    totals.deletions += count
                } else if difference.contains(.moved) {
                    totals.moves += count
                } else {
                    totals.uploads += count
                }
            }
            guard try db.meta(MetaKey.heldDeletes) == nil else { return totals }
            totals.deletions +=
                try db.first(
                    "SELECT count(*) FROM bases INDEXED BY bases_due WHERE container = ? AND orphan = 1",
                    .text(container.rawValue), read: { Int($0.integer(0)) }) ?? 0
            totals.deletions +=
                try db.first(
                    "SELECT count(*) FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan < 0 AND container = ?",
                    .text(container.rawValue), read: { Int($0.integer(0)) }) ?? 0
            return totals
        }
    }

    /// What is deleted once the items that were there are at the provider of another container, which they were moved to: where,
    /// below the container's root, at most `limit`.
    package func awaitingDeletes(container: ContainerID, limit: Int) async throws(IndexError) -> [RelativePath] {
        try await read("deletions that wait") { db in
            var paths = PathBuilder.bases
            return try db.all(
                """
                SELECT id FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan < 0 AND container = ? \
                ORDER BY id LIMIT ?
                """, .text(container.rawValue), .integer(Int64(limit)), read: { $0.integer(0) }
            ).compactMap { try paths.path($0, db) }
        }
    }

    /// The sizes of files whose content the container's provider has not got.
    package func pendingBytes(container: ContainerID) async throws(IndexError) -> Int64 {
        try await read("what is pending") { db in
            try db.first(
                """
                SELECT total(size) FROM items INDEXED BY items_due WHERE container = ? AND pending <> 0 \
                AND pending & 3 <> 0 AND kind = 0 AND dataless = 0
                """, .text(container.rawValue), read: { Int64(clamping: $0.real(0)) }) ?? 0
        }
    }

    /// Those of what errors are about that are still pending in the container.
    package func pending(
        of subjects: [ParkedSubject], container: ContainerID
    ) async throws(IndexError) -> Set<ParkedSubject> {
        try await read("whether something is pending") { db in
            Set(try subjects.filter { try Self.isPending($0, container, db) })
        }
    }

    private static func isPending(_ subject: ParkedSubject, _ container: ContainerID, _ db: Database) throws -> Bool {
        switch subject {
        case .item(let id):
            try db.first(
                "SELECT 1 FROM items WHERE id = ? AND container = ? AND pending <> 0 AND local_only = 0",
                .integer(id.rawValue), .text(container.rawValue), read: { _ in true }) ?? false
        case .base(let container, let path): try isPending(container, path, db)
        }
    }

    private static func isPending(_ container: ContainerID, _ path: RelativePath, _ db: Database) throws -> Bool {
        guard let base = try db.baseID(container, at: path) else { return false }
        let isOrphan = try db.first("SELECT orphan = 1 FROM bases WHERE id = ?", .integer(base), read: { $0.flag(0) })
        if isOrphan == true { return try db.meta(MetaKey.heldDeletes) == nil }
        return try db.first(
            "SELECT 1 FROM items WHERE base = ? AND pending <> 0 AND local_only = 1", .integer(base),
            read: { _ in true }
        ) ?? false
    }

    /// How many deletions are held until they are confirmed; 0 when none are.
    package func heldDeletes() async throws(IndexError) -> Int {
        try await read("held deletions") { try $0.heldDeletes() }
    }
}
