import GRDB
import QuireCore

/// By what an index's rows are placed and typed, and what outlives a file that was damaged.
struct IngestSetup {
    var layout: ContainerLayout
    var ephemeral: EphemeralNames
    var typer: ItemTyper
    /// The ids that were given while the index was open: none is given again.
    var ids: (epoch: Int64, next: Int64)?
    /// The inodes that had tags.
    var tagged = TaggedInodes()
}

extension IngestState {
    /// What it takes to begin with a new file in the place of a damaged one.
    var setup: IngestSetup {
        IngestSetup(
            layout: layout, ephemeral: ephemeral, typer: types.typer, ids: (epoch, nextID), tagged: tagged)
    }

    /// Reads what the ingest thread keeps, and makes the root's row. In a transaction that writes.
    init(_ db: Database, _ setup: IngestSetup, _ rootStatus: FileStatus, _ lister: StoreLister, now: FileTime) throws {
        let (epoch, nextID) = try setup.ids ?? Self.ids(db)
        // Handles do not outlive the daemon; the fingerprint decides now. What is never uploaded is never pending, but a
        // temporary file may have been renamed over a document meanwhile.
        let open = try db.all(
            """
            SELECT id FROM items WHERE pending <> 0 AND writers = 1
            UNION SELECT id FROM items WHERE local_only = 1 AND writers = 1
            """, read: { $0.integer(0) })
        try db.run("DELETE FROM parked WHERE item <> 0 AND item NOT IN (SELECT id FROM items)")
        var writer = TreeWriter(
            db: db,
            state: IngestState(
                epoch: epoch, root: epoch << 32, nextID: nextID, layout: setup.layout, ephemeral: setup.ephemeral,
                types: TypeIDs(setup.typer), tagged: setup.tagged)
        ) { lister.look(at: $0) }
        writer.now = now.nanoseconds
        for id in open {
            guard var row = try writer.row(id) else { continue }
            row.writersOpen = false
            try writer.update(row)
        }
        try writer.leaveRemovals()
        try writer.meetStore(rootStatus, lister, isOpening: true)
        for inode in try db.all("SELECT inode FROM items WHERE tags <> ''", read: { $0.integer(0) }) {
            writer.state.tagged.insert(UInt64(bitPattern: inode))
        }
        let rules = PlacementRules(setup.layout, setup.ephemeral)
        if try db.meta(MetaKey.layout) != rules.stored {
            try writer.placeAll()
            try db.setMeta(MetaKey.layout, rules.stored)
        }
        if try db.meta(MetaKey.types) != setup.typer.stored {
            try writer.typeAll()
            try db.setMeta(MetaKey.types, setup.typer.stored)
        }
        if try db.meta(MetaKey.epoch) == nil { try db.setMeta(MetaKey.epoch, String(epoch)) }
        try db.setMeta(MetaKey.nextID, String(writer.state.nextID))
        self = writer.state
    }

    private static func ids(_ db: Database) throws -> (epoch: Int64, next: Int64) {
        let epoch = try db.meta(MetaKey.epoch).flatMap { Int64($0) } ?? Int64.random(in: 1..<(1 << 31))
        return (epoch, try db.meta(MetaKey.nextID).flatMap { Int64($0) } ?? 1)
    }
}
