import GRDB
import QuireCore

/// One directory compared with its rows.
extension TreeWriter {
    /// Lists the directory `id` and brings its rows up to what is there.
    mutating func compare(_ id: Int64, _ rescan: inout Rescan, _ lister: StoreLister) throws {
        guard let row = try row(id), row.local.kind == .directory, let path = try path(of: row) else { return }
        let entries: [StoreLister.Entry]?
        do {
            entries = try lister.list(path, inode: row.local.inode)
        } catch {
            // Not readable now: nothing below it is taken as missing.
            return
        }
        // Another directory is there, or none: its parent's listing, or an event, tells which.
        guard let entries else { return }
        rescan.report.directories += 1
        var known = Dictionary(uniqueKeysWithValues: try children(of: id).map { ($0.name, $0) })
        let moved = try followMoves(entries, to: row, known, &rescan)
        if !moved.isEmpty {
            known = Dictionary(uniqueKeysWithValues: try children(of: id).map { ($0.name, $0) })
        }
        let directory = DirectoryRow(row)
        for entry in entries {
            let before = known.removeValue(forKey: entry.name)
            let isAsKnown = before?.local.isSameState(as: entry.local) ?? false
            // What was moved while nobody looked may have been written as well.
            let mustLook = !isAsKnown || before?.local.isDataless == true && moved.contains(entry.name)
            var looked = entry
            let isDataless = mustLook && lister.isPlaceholder(&looked, in: path)
            if let before, isAsKnown, isDataless || !mustLook {
                if entry.local.kind == .directory, rescan.isWhole { rescan.queue.append(before.id) }
                continue
            }
            let local = LocalRecord(looked.status, isDataless: isDataless)
            if let before, before.local.kind == .directory, local.kind != .directory {
                // With all that was in it: whether that is believed is decided at the end.
                try setAside(before, &rescan)
            }
            let after = try appeared(in: directory, entry.name, local, keepsChildren: true)
            if before == nil { rescan.report.added += 1 } else { rescan.report.changed += 1 }
            let isOtherDirectory = before?.local.inode != local.inode
            if local.kind == .directory, rescan.isWhole || isOtherDirectory { rescan.queue.append(after.id) }
        }
        rescan.missing += known.values.map { Rescan.Missing(id: $0.id, parent: $0.parent, name: $0.name) }
    }

    /// Moves rows whose inode is in this directory now and no longer where they say.
    ///
    /// - Returns: their names now.
    private mutating func followMoves(
        _ entries: [StoreLister.Entry], to directory: ItemRow, _ known: [[UInt8]: ItemRow], _ rescan: inout Rescan
    ) throws -> Set<[UInt8]> {
        var moved: Set<[UInt8]> = []
        for entry in entries where entry.local.isOnlyName && known[entry.name]?.local.inode != entry.local.inode {
            guard let source = try rows(inode: entry.local.inode).first(where: { $0.isPresumably(entry.local) }) else {
                continue
            }
            if source.parent != Schema.limbo, let place = try path(of: source), inodeInStore(place) == entry.local.inode
            {
                continue
            }
            // An earlier step may have moved this very row here, or a directory above it.
            guard let parent = try row(directory.id), source.id != parent.id else { continue }
            if let target = try row(in: parent.id, entry.name), target.id != source.id,
                !(source.isTemporary && target.local.kind == .file)
            {
                try setAside(target, &rescan)
            }
            try move(
                source, to: DirectoryRow(parent), entry.name, entry.status, writersOpen: source.writersOpen,
                isWitnessed: false)
            rescan.report.moved += 1
            moved.insert(entry.name)
        }
        return moved
    }

    /// Makes room for what is at the row's place now; the row is missing unless it is found elsewhere.
    private mutating func setAside(_ row: ItemRow, _ rescan: inout Rescan) throws {
        try sendToLimbo(row)
        rescan.missing.append(Rescan.Missing(id: row.id, parent: Schema.limbo, name: Array("\(row.id)".utf8)))
    }

    /// Removes the rows that are missing in the store still, unless there are too many to be believed: then their
    /// deletions are held.
    mutating func removeMissing(_ rescan: inout Rescan) throws {
        // Those that an earlier rescan, which did not end, set aside are missing as well.
        var gone = rescan.isWhole ? try children(of: Schema.limbo) : []
        for missing in rescan.missing where missing.parent != Schema.limbo || !rescan.isWhole {
            guard let row = try row(missing.id), row.parent == missing.parent, row.name == missing.name else {
                continue
            }
            if row.parent != Schema.limbo, let path = try path(of: row), let inode = inodeInStore(path) {
                // Something is there again; an event tells of it, or has told.
                if inode != row.local.inode { suspects.insert(row.parent) }
                continue
            }
            gone.append(row)
        }
        let total = try db.first("SELECT count(*) FROM items WHERE role = 0", read: { Int($0.integer(0)) }) ?? 0
        for row in gone { rescan.report.removed += try size(of: row) }
        if Rescan.isImplausible(missing: rescan.report.removed, of: total) {
            rescan.report.holdsDeletes = true
            try db.setMeta(MetaKey.heldDeletes, String(rescan.report.removed))
        }
        for row in gone where try self.row(row.id) != nil { try removeEntry(row) }
        // What was missing is back: nothing is held any more.
        let deletes = try db.first("SELECT count(*) FROM bases WHERE orphan = 1", read: { $0.integer(0) }) ?? 0
        if rescan.isWhole, deletes == 0 { try db.setMeta(MetaKey.heldDeletes, nil) }
    }

    /// How many rows a row is, with all below it.
    private func size(of row: ItemRow) throws -> Int {
        guard row.local.kind == .directory else { return 1 }
        return try children(of: row.id).reduce(1) { try $0 + size(of: $1) }
    }
}

extension LocalRecord {
    /// Whether an entry of the store is as it was. What becomes of a directory's times is no change of the directory.
    fileprivate func isSameState(as other: LocalRecord) -> Bool {
        guard kind == other.kind, inode == other.inode, mode == other.mode else { return false }
        return kind == .directory || (fingerprint == other.fingerprint && linkCount == other.linkCount)
    }
}

extension ItemRow {
    /// Whether an entry with this row's inode is this item: inodes are used again.
    fileprivate func isPresumably(_ local: LocalRecord) -> Bool {
        guard self.local.kind == local.kind, role == .entry else { return false }
        return local.kind == .directory || self.local.size == local.size || self.local.mtime == local.mtime
    }
}

extension StoreLister.Entry {
    fileprivate var local: LocalRecord { LocalRecord(status, isDataless: false) }
}
