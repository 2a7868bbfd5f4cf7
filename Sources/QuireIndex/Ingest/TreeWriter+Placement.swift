import GRDB
import QuireCore

/// Containers, local-only names, and links between items and bases.
extension TreeWriter {
    /// Puts `row` into a directory under `name`: derives container, role and whether it is local-only, pins it where the
    /// directory is pinned, drops the base when the container is another, and adopts the base that waits at the new place.
    ///
    /// - Parameter continues: it is what was there a moment ago.
    mutating func place(
        _ row: inout ItemRow, in parent: DirectoryRow, _ name: [UInt8], continues: Bool = false
    ) throws {
        row.parent = parent.id
        row.name = name
        row.parentBase = parent.childrenBase
        if parent.isPinned { row.isPinned = true }
        let fileName = FileName(unchecked: name)
        if parent.role == .driveRoot, row.local.kind == .directory, let container = state.layout.container(at: fileName)
        {
            row.container = container.rawValue
            row.role = .containerRoot
            row.isLocalOnly = false
        } else {
            row.container = parent.container
            row.role = .entry
            row.isLocalOnly = isLocalOnly(row, inLocalOnly: parent.isLocalOnly)
        }
        if let base = row.base, base.container != row.container || row.role != .entry {
            // Moved while nobody looked: the other container's provider has its only content.
            if row.local.isDataless, try db.meta(MetaKey.heldDeletes) == nil {
                try db.setMeta(MetaKey.heldDeletes, "1")
            }
            // Until it goes up from there, the provider here has all there is of it beside this device.
            try unlink(&row, awaiting: row.goesUp ? row.id : nil)
            // It is no document of this container's, whatever waits at its name.
            if row.local.isDataless { return }
        }
        // Put where nothing goes up, as into a trash.
        if parent.isLocalOnly { try endWait(for: row.id) }
        try adopt(&row, continues: continues)
    }

    /// Writes a row that was placed anew, and what follows from it for all that lies below, and for what waits for it.
    mutating func updatePlaced(_ row: ItemRow, before: ItemRow) throws {
        try update(row)
        if let base = before.base, base.id != row.base?.id, base.container != row.container {
            try offer(base.container, base.parent, base.name)
        }
        if before.goesUp, !row.goesUp { try offerAwaiting(row.id) }
        try freePlace(of: row)
        guard row.local.kind == .directory else { return }
        if row.isPinned, !before.isPinned { try db.setPinned(row.id, true) }
        if row.container != before.container || row.isLocalOnly != before.isLocalOnly || row.role != before.role {
            try placeChildren(of: row)
        } else if row.base?.id != before.base?.id {
            try relinkChildren(of: row)
        }
    }

    private mutating func placeChildren(of row: ItemRow) throws {
        let directory = DirectoryRow(row)
        for id in try children(of: row.id).map(\.id) {
            // One before it may have taken its base.
            guard let before = try self.row(id) else { continue }
            var child = before
            try place(&child, in: directory, child.name)
            try updatePlaced(child, before: before)
        }
    }

    /// A directory has another base, or none: its children have moved with respect to the provider, or no longer.
    mutating func relinkChildren(of row: ItemRow) throws {
        for id in try children(of: row.id).map(\.id) {
            guard let before = try self.row(id) else { continue }
            var child = before
            try adopt(&child)
            let linked = child.base?.id != before.base?.id
            guard linked || child.difference.rawValue != child.pending else { continue }
            try updatePlaced(child, before: before)
        }
    }

    /// Places everything anew: the layout of containers or the ephemeral names are others than they were.
    mutating func placeAll() throws {
        if let root = try row(state.root) { try placeChildren(of: root) }
    }

    // MARK: Local-only names

    /// Whether an item stays on this device: by its kind, what it lies in, or its name. What the provider has under an
    /// ephemeral name is a document like any other.
    private func isLocalOnly(_ row: ItemRow, inLocalOnly: Bool) -> Bool {
        inLocalOnly || !row.local.kind.isSynced || !row.isAtBasePlace && isEphemeral(row)
    }

    private func isEphemeral(_ row: ItemRow) -> Bool { state.ephemeral.contains(FileName(unchecked: row.name)) }

    /// Whether it would be the name alone that keeps an item on this device.
    func isLocalByNameOnly(_ row: ItemRow) throws -> Bool {
        guard row.role == .entry, row.local.kind.isSynced, isEphemeral(row) else { return false }
        return try db.first("SELECT local_only FROM items WHERE id = ?", .integer(row.parent)) { $0.flag(0) } == false
    }

    /// Derives anew whether an item is local-only, whose base is there or gone just now, or at another place.
    func settleName(_ row: inout ItemRow) throws {
        if try isLocalByNameOnly(row) { row.isLocalOnly = !row.isAtBasePlace }
    }

    // MARK: Links

    /// Takes the base that waits where the item is: something was deleted there, or renamed to an ephemeral name. What is
    /// dataless keeps it under such a name, too: the provider has its only content.
    ///
    /// While deletions are held, a document that is not the one that went does not take that one's base: its upload would
    /// replace what the user may want back. Nothing is known of the place then, so that both are kept. Nor is one taken by
    /// another document that waits for its own to arrive elsewhere: that is waited for first, where that is possible.
    ///
    /// - Parameter continues: it is what was there a moment ago.
    mutating func adopt(_ row: inout ItemRow, continues: Bool = false) throws {
        guard row.base == nil, row.role == .entry, let parentBase = row.parentBase,
            try !row.isLocalOnly || isLocalByNameOnly(row)
        else { return }
        let found = try db.first(
            """
            SELECT b.id, b.kind, b.mtime, b.mode, i.id, i.local_only AND NOT i.dataless, b.tags, b.size, b.orphan,
            b.left_pinned, b.left_tags
            FROM bases b LEFT JOIN items i ON i.base = b.id
            WHERE b.container = ? AND b.parent = ? AND b.name = ?
            """, .text(row.container), .integer(parentBase), .blob(row.name)
        ) { found -> (ItemRow.Base, Waiting, holder: Int64?, free: Bool) in
            let base = ItemRow.Base(
                id: found.integer(0), container: row.container, parent: parentBase, name: row.name,
                kind: FileKind(code: found.integer(1)), mtime: FileTime(nanoseconds: found.integer(2)),
                mode: found.optionalInteger(3).map { UInt16(truncatingIfNeeded: $0) }, tags: found.optionalText(6))
            let holder = found.optionalInteger(4)
            let waiting = Waiting(
                size: found.integer(7), isNeeded: found.integer(8) == OrphanState.needed,
                awaited: OrphanState.awaited(found.integer(8)), isPinned: found.flag(9),
                tags: found.optionalText(10) ?? base.tags ?? "")
            return (base, waiting, holder, holder == nil || found.flag(5))
        }
        guard let (base, waiting, holder, free) = found, free, holder != row.id else { return }
        guard base.kind == row.local.kind else { return try freePlace(of: row) }
        if let holder {
            // A holder that is local-only is pending for nothing but this base.
            try db.run(
                "UPDATE items SET base = NULL, ack_inode = NULL, pending = 0 WHERE id = ?", .integer(holder))
        } else {
            if let awaited = waiting.awaited, base.kind != .directory, try isWorthWaiting(for: awaited, row) { return }
            if !continues || waiting.isNeeded, try !comesBack(&row, to: base, waiting) {
                return try removeBase(base.id)
            }
            try db.run("UPDATE bases SET orphan = 0 WHERE id = ?", .integer(base.id))
        }
        row.base = base
        row.acknowledged = nil
        row.isLocalOnly = false
    }

    /// What is known of a base that nothing is linked to.
    private struct Waiting {
        var size: Int64
        /// A placeholder elsewhere needs it.
        var isNeeded: Bool
        /// What had it, while that is on its way to another container's provider.
        var awaited: Int64?
        /// Of what had it.
        var isPinned: Bool
        var tags: String
    }

    /// Whether the row may take a base that nothing is linked to. What has gone and is back is pinned and tagged as
    /// it was.
    private func comesBack(_ row: inout ItemRow, to base: ItemRow.Base, _ waiting: Waiting) throws -> Bool {
        let isHeld = try waiting.isNeeded || db.meta(MetaKey.heldDeletes) != nil
        let isSame = row.local.kind == .directory ? isHeld : row.local.isLike(size: waiting.size, mtime: base.mtime)
        if isSame {
            if row.tags.isEmpty { row.tags = waiting.tags }
            row.isPinned = row.isPinned || waiting.isPinned
        }
        return isSame || !isHeld
    }

    /// Gives up the base that a new placeholder has found at its name, where its mark names something else that is
    /// known: then it is a copy of that.
    mutating func giveUp(
        _ row: inout ItemRow, in directory: DirectoryRow, unlessNamedBy mark: Placeholder?
    ) throws {
        guard let base = row.base, let mark, try !isOf(mark, row), try db.hasBase(of: mark) else { return }
        let taken = row
        try unlink(&row)
        try orphan(base.id, leaving: taken)
        (row.tags, row.isPinned) = ("", directory.isPinned)
        try update(row)
        // It may have been held for a placeholder elsewhere.
        if try db.meta(MetaKey.neededBases) != nil, try db.meta(MetaKey.heldDeletes) == nil {
            try db.setMeta(MetaKey.heldDeletes, "1")
        }
    }

    /// The item stands for nothing at the provider any more; the base is an orphan.
    ///
    /// - Parameter item: as for `orphan`.
    func unlink(_ row: inout ItemRow, awaiting item: Int64? = nil) throws {
        guard let base = row.base else { return }
        // The row that is written afterwards says the same; until then no two rows may claim one base.
        try db.run("UPDATE items SET base = NULL WHERE id = ?", .integer(row.id))
        try orphan(base.id, awaiting: item)
        row.base = nil
        row.acknowledged = nil
        try settleName(&row)
    }

    /// Takes an item's base away, and writes that.
    mutating func dropBase(of holder: ItemRow) throws {
        var row = holder
        (row.base, row.acknowledged) = (nil, nil)
        try settleName(&row)
        try updatePlaced(row, before: holder)
    }

    /// Links the row to a base, taking it from whichever item had it. The row is not written here.
    ///
    /// - Parameter isNew: it was made just now, for this row.
    mutating func link(_ row: inout ItemRow, to base: ItemRow.Base, isNew: Bool) throws {
        if row.base?.id != base.id { try take(base.id, for: &row, isNew: isNew) }
        row.base = base
        try settleName(&row)
    }

    private mutating func take(_ base: Int64, for row: inout ItemRow, isNew: Bool) throws {
        try unlink(&row)
        if isNew { return }
        if let holder = try self.row(withBase: base), holder.id != row.id { try dropBase(of: holder) }
        try db.run("UPDATE bases SET orphan = 0 WHERE id = ?", .integer(base))
    }
}
