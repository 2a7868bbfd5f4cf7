import GRDB
import QuireCore

/// Bases that wait until what was moved out of their container is at the provider of another (`OrphanState.awaiting`).
///
///     home:doc ──awaits──▶ item A, at work:doc     which is not sent before that place is free:
///     work:doc ──awaits──▶ item B, at home:doc     documents that change places wait for each other
///
/// Such a ring is broken where it closes: the item that was placed last takes the place that it has.
extension TreeWriter {
    /// An item is at the provider of the container that it was moved to, or has gone: what waited for that is deleted.
    func endWait(for item: Int64) throws {
        try db.run(
            "UPDATE bases INDEXED BY bases_held SET orphan = ?, since = ? WHERE orphan <> 0 AND orphan = ?",
            .integer(OrphanState.deleted), .integer(now), .integer(OrphanState.awaiting(item)))
    }

    /// The content of an item is another's from now on, and so is what waits for it.
    func passWait(from item: Int64, to other: Int64) throws {
        try db.run(
            "UPDATE bases INDEXED BY bases_held SET orphan = ? WHERE orphan <> 0 AND orphan = ?",
            .integer(OrphanState.awaiting(other)), .integer(OrphanState.awaiting(item)))
    }

    /// The content of `source` is that of `row` from now on, and so is what waits for it. What waits at the row's own place does
    /// so no longer: the document is back.
    mutating func takeWait(of source: Int64, for row: inout ItemRow) throws {
        try passWait(from: source, to: row.id)
        if let occupant = try occupant(of: row), occupant.awaited == row.id { try adopt(&row) }
        try freePlace(of: row)
    }

    /// Whether what is awaited elsewhere may arrive there while `row` waits for it. Not where it stays on this device, nor where
    /// it waits itself, in the end, for `row` to leave.
    func isWorthWaiting(for awaited: Int64, _ row: ItemRow) throws -> Bool {
        var (left, seen): ([Dependency], Set<Int64>) = ([Dependency(item: awaited, isAwaited: true)], [])
        while let next = left.popLast() {
            if next.item == row.id { return false }
            guard seen.insert(next.item).inserted else { continue }
            guard let other = try self.row(next.item), other.goesUp || !next.isAwaited else { return false }
            left += try dependencies(of: other)
        }
        return true
    }

    /// An item that has to be sent before another.
    private struct Dependency {
        var item: Int64
        /// Something is to be deleted when it has arrived.
        var isAwaited: Bool
    }

    private func dependencies(of row: ItemRow) throws -> [Dependency] {
        if row.isAtBasePlace || row.role != .entry { return [] }
        // It cannot be sent before its directory.
        guard row.parentBase != nil else { return [Dependency(item: row.parent, isAwaited: false)] }
        return try occupant(of: row).map { try dependencies(toRemove: $0) } ?? []
    }

    /// An item that is linked to it has to leave first, and all that the provider has in what is linked to nothing.
    private func dependencies(toRemove occupant: Occupant) throws -> [Dependency] {
        if let holder = occupant.holder {
            guard let row = try row(holder), !row.isLocalOnly, !row.isAtBasePlace else { return [] }
            return [Dependency(item: holder, isAwaited: false)]
        }
        let own = occupant.awaited.map { [Dependency(item: $0, isAwaited: true)] } ?? []
        return try own + contents(of: occupant.base).flatMap { try dependencies(toRemove: $0) }
    }

    /// What waits where an item is to be, or a directory that it lies in, does so no longer, if that waits for the item itself.
    func freePlace(of row: ItemRow) throws {
        guard row.role == .entry, !row.isLocalOnly, !row.isAtBasePlace, try isAnythingAwaited() else { return }
        var (next, seen): (ItemRow?, Set<Int64>) = (row, [])
        while let item = next, item.role == .entry, !item.isLocalOnly, !item.isAtBasePlace,
            seen.insert(item.id).inserted
        {
            if let occupant = try occupant(of: item), occupant.holder == nil {
                try endVainWait(of: occupant, for: item)
            }
            next = try self.row(item.parent)
        }
    }

    private func isAnythingAwaited() throws -> Bool {
        try db.first("SELECT 1 FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan < 0 LIMIT 1") { _ in true }
            ?? false
    }

    /// What has gone here, with all that the provider has in it, waits no longer for what waits for `row`, which takes its place.
    private func endVainWait(of gone: Occupant, for row: ItemRow) throws {
        if let awaited = gone.awaited, try !isWorthWaiting(for: awaited, row) {
            try db.run(
                "UPDATE bases SET orphan = ?, since = ? WHERE id = ?", .integer(OrphanState.deleted), .integer(now),
                .integer(gone.base))
        }
        for child in try contents(of: gone.base) where child.holder == nil { try endVainWait(of: child, for: row) }
    }

    /// What waits for an item that goes nowhere any more is for whoever is there now.
    mutating func offerAwaiting(_ item: Int64) throws {
        let places = try db.all(
            """
            SELECT container, parent, name FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan = ?
            """, .integer(OrphanState.awaiting(item))
        ) { ($0.text(0), $0.integer(1), $0.blob(2)) }
        for (container, parent, name) in places { try offer(container, parent, name) }
    }

    /// A base has been left: what lies at its place and stands for nothing at the provider may take it.
    mutating func offer(_ container: String, _ parent: Int64, _ name: [UInt8]) throws {
        let directory =
            parent == 0
            ? try db.first("SELECT id FROM items WHERE role <> 0 AND container = ?", .text(container)) { $0.integer(0) }
            : try row(withBase: parent)?.id
        guard let directory, let before = try row(in: directory, name), before.base == nil, before.role == .entry
        else { return }
        var row = before
        try adopt(&row)
        if row.base != nil { try updatePlaced(row, before: before) }
    }

    /// What the provider has at a place.
    private struct Occupant {
        var base: Int64
        /// What it is linked to.
        var holder: Int64?
        /// What it waits for, where it is linked to nothing.
        var awaited: Int64?

        init(_ row: SQLRow) {
            base = row.integer(0)
            holder = row.optionalInteger(1)
            awaited = OrphanState.awaited(row.integer(2))
        }
    }

    private static let occupants = "SELECT b.id, i.id, b.orphan FROM bases b LEFT JOIN items i ON i.base = b.id WHERE "

    private func occupant(of row: ItemRow) throws -> Occupant? {
        guard let parentBase = row.parentBase else { return nil }
        return try db.first(
            Self.occupants + "b.container = ? AND b.parent = ? AND b.name = ? AND b.id <> ?", .text(row.container),
            .integer(parentBase), .blob(row.name), .integer(row.base?.id ?? 0), read: Occupant.init)
    }

    private func contents(of base: Int64) throws -> [Occupant] {
        try db.all(Self.occupants + "b.parent = ?", .integer(base), read: Occupant.init)
    }
}
