import GRDB
import QuireCore

/// One directory compared with its rows.
extension TreeWriter {
    /// Lists the directory `id` and brings its rows up to what is there.
    mutating func compare(_ id: Int64, _ rescan: inout Rescan, _ lister: StoreLister) throws {
        guard let row = try row(id), row.local.kind == .directory, let path = try path(of: row) else { return }
        let listing: StoreLister.Listing?
        do {
            listing = try lister.list(path, inode: row.local.inode)
        } catch {
            // Not readable now: nothing below it is taken as missing.
            return rescan.note(unread: id, path, error.errno, now)
        }
        let wasUnread = rescan.unread.removeValue(forKey: id) != nil
        // Another directory is there, or none: its parent's listing, or an event, tells which.
        guard let listing else { return }
        rescan.report.directories += 1
        rescan.undecided[id] = nil
        let before = try known(in: id, but: listing)
        let (moved, unclear) = try followMoves(listing.entries, to: row, before, path, &rescan, lister)
        let known = try compare(
            listing.entries, in: row, path, moved.isEmpty ? before : try known(in: id, but: listing), moved: moved,
            unclear: unclear, &rescan, lister)
        rescan.missing += known.map { Rescan.Missing(id: $0.id, parent: $0.parent, name: $0.name) }
        for name in listing.unread {
            let place = path.appending(FileName(unchecked: name))
            rescan.note(unread: place, in: id, listing.errno, now)
            guard let child = try self.row(in: id, name), child.local.kind == .directory else { continue }
            rescan.note(unread: child.id, place, listing.errno, now)
        }
        if wasUnread, rescan.unread[id] == nil, rescan.undecided[id] == nil { rescan.readsAgain = true }
    }

    /// Brings the rows of entries up to what is there.
    ///
    /// - Parameters:
    ///   - known: the rows in the directory, by name.
    ///   - moved: what `followMoves` has moved there.
    ///   - unclear: entries of which it cannot be told what they are.
    /// - Returns: the rows that have no entry.
    mutating func compare(
        _ entries: [StoreLister.Entry], in row: ItemRow, _ path: RelativePath, _ known: [[UInt8]: ItemRow],
        moved: Set<[UInt8]>, unclear: Set<[UInt8]>, _ rescan: inout Rescan, _ lister: StoreLister
    ) throws -> [ItemRow] {
        let (id, directory) = (row.id, DirectoryRow(row))
        var known = known
        for entry in entries {
            let before = known.removeValue(forKey: entry.name)
            if unclear.contains(entry.name) { continue }
            let isAsKnown = before?.local.isSameState(as: entry.local) ?? false
            // What was moved while nobody looked may have been written as well.
            let mustLook = !isAsKnown || before?.local.isDataless == true && moved.contains(entry.name)
            var looked = entry
            var isDataless = mustLook && lister.isPlaceholder(&looked, in: path)
            var isRenewed = false
            if mustLook, !isDataless, let before, before.local.isDataless, before.local.size == looked.status.size {
                do {
                    isRenewed = try lister.renewMark(of: &looked, in: path, placeholder(before))
                    isDataless = isRenewed
                } catch let error as ListError {
                    let place = path.appending(FileName(unchecked: entry.name))
                    rescan.note(unread: place, in: id, error.errno, now, .renewing)
                    continue
                }
            }
            if let before, isAsKnown, !isRenewed, isDataless || !mustLook {
                if entry.local.kind == .directory, rescan.isWhole { rescan.queue.append(before.id) }
                continue
            }
            let local = LocalRecord(looked.status, isDataless: isDataless)
            if let before, before.local.kind != local.kind, before.local.kind == .directory || before.local.isDataless {
                // A directory with all that was in it: whether that is believed is decided at the end.
                try setAside(before, &rescan)
            } else if let before, before.isPlaceholder(replacedBy: local),
                rescan.postpones(entry.name, in: id, path, now)
            {
                continue
            }
            let next = nextID
            var after = try appeared(in: directory, entry.name, local, keepsChildren: true)
            if isDataless, !isRenewed, before == nil {
                try giveUp(&after, in: directory, unlessNamedBy: lister.placeholder(looked, in: path))
            }
            if isDataless, !isRenewed, before?.local.inode != local.inode {
                try noteStray(after, looked, in: path, isNew: before == nil, &rescan, lister)
            }
            if before == nil, rescan.firstNew == nil { rescan.firstNew = next }
            if before == nil { rescan.report.added += 1 } else { rescan.report.changed += 1 }
            let isOtherDirectory = before?.local.inode != local.inode
            if local.kind == .directory, rescan.isWhole || isOtherDirectory { rescan.queue.append(after.id) }
        }
        return Array(known.values)
    }

    /// What a placeholder of a row's base says of itself.
    func placeholder(_ row: ItemRow) throws -> Placeholder {
        let found = try row.base.flatMap { base in
            try db.first("SELECT version, container, checksum FROM bases WHERE id = ?", .integer(base.id)) {
                Placeholder(
                    version: ProviderVersion($0.text(0)), container: ContainerID(unchecked: $0.text(1)),
                    checksum: $0.optionalBlob(2).flatMap { ContentChecksum(bytes: $0) })
            }
        }
        return found ?? Placeholder(version: ProviderVersion(""), container: ContainerID(unchecked: row.container))
    }

    /// The rows in a directory, without those of what cannot be looked at there.
    private func known(in directory: Int64, but listing: StoreLister.Listing) throws -> [[UInt8]: ItemRow] {
        var known = Dictionary(uniqueKeysWithValues: try children(of: directory).map { ($0.name, $0) })
        for name in listing.unread { known[name] = nil }
        return known
    }

    /// Makes room for what is at the row's place now; the row is missing unless it is found elsewhere.
    mutating func setAside(_ row: ItemRow, _ rescan: inout Rescan) throws {
        try sendToLimbo(row)
        rescan.missing.append(Rescan.Missing(id: row.id, parent: Schema.limbo, name: Array("\(row.id)".utf8)))
    }

    /// Removes the rows that are missing in the store still. Where there are too many to be believed, or what is missing
    /// may lie where nobody can look, or be a placeholder of which that cannot be told, their deletions are held; where the
    /// store has vanished, they are already (`meetStore`).
    mutating func removeMissing(_ rescan: inout Rescan) throws {
        // Those that an earlier rescan, which did not end, set aside are missing as well.
        var gone = rescan.isWhole ? try children(of: Schema.limbo) : []
        for missing in rescan.missing where missing.parent != Schema.limbo || !rescan.isWhole {
            guard let row = try row(missing.id), row.parent == missing.parent, row.name == missing.name else {
                continue
            }
            if row.parent != Schema.limbo, let path = try path(of: row) {
                switch placeInStore(path) {
                case .nothing: break
                case .entry(let status):
                    // Something is there again; an event tells of it, or has told.
                    if status.inode != row.local.inode { suspects.insert(row.parent) }
                    continue
                case .unknown(let errno):
                    rescan.note(unread: path, in: row.parent, errno, now)
                    continue
                }
            }
            // It may lie where nobody can look, and the provider has its only content.
            if !rescan.unread.isEmpty, row.parent != Schema.limbo, try hasDataless(row) { continue }
            gone.append(row)
        }
        let total = try db.first("SELECT count(*) FROM items WHERE role = 0", read: { Int($0.integer(0)) }) ?? 0
        for row in gone { rescan.report.removed += try size(of: row) }
        let isUnclear = try !rescan.unread.isEmpty && gone.contains { try hasDataless($0) }
        if isUnclear || rescan.hidesMoved || Rescan.isImplausible(missing: rescan.report.removed, of: total) {
            rescan.report.holdsDeletes = true
            try db.setMeta(MetaKey.heldDeletes, String(rescan.report.removed))
        }
        let isHeld = try db.meta(MetaKey.heldDeletes) != nil
        for row in gone where try self.row(row.id) != nil {
            // What comes to the place of a held one is no save of that.
            if isHeld { try delete(row) } else { try removeEntry(row) }
        }
        if rescan.isWhole, rescan.unread.isEmpty {
            // All rows name the inodes that are there.
            try db.setMeta(MetaKey.renumbered, nil)
            try db.setMeta(MetaKey.vanished, nil)
            try endRemovals()
        }
        // What was missing is back: nothing is held any more.
        let deletes = try db.first("SELECT count(*) FROM bases WHERE orphan = 1", read: { $0.integer(0) }) ?? 0
        if rescan.isWhole, deletes == 0, rescan.unread.isEmpty { try db.setMeta(MetaKey.heldDeletes, nil) }
        if rescan.isWhole, try db.meta(MetaKey.neededBases) != nil {
            let needed = try db.first(
                "SELECT 1 FROM bases INDEXED BY bases_held WHERE orphan <> 0 AND orphan = ? LIMIT 1",
                .integer(OrphanState.needed), read: { _ in true })
            if needed == nil { try db.setMeta(MetaKey.neededBases, nil) }
        }
        // Also where the store had vanished when it was met.
        if deletes > 0, try db.meta(MetaKey.heldDeletes) != nil { rescan.report.holdsDeletes = true }
    }

    /// Whether the content of a row, or of one below it, is at the provider alone.
    func hasDataless(_ row: ItemRow) throws -> Bool {
        guard row.local.kind == .directory else { return row.local.isDataless }
        return try children(of: row.id).contains { try hasDataless($0) }
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

extension StoreLister.Entry {
    var local: LocalRecord { LocalRecord(status, isDataless: false) }
}
