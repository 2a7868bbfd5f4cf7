import GRDB
import QuireCore

/// What was moved while nobody looked.
///
/// An inode's number is a strong sign on one file system, and none where the home was copied or restored: there the numbers
/// that rows name are other entries'. So a document of which only the placeholder is here goes by what its mark names, and of
/// all else a number counts only where nothing speaks against it.
extension TreeWriter {
    /// Moves rows whose inode is in this directory now and no longer where they say.
    ///
    /// - Parameter path: of the directory.
    /// - Returns: their names now, and the names of entries of which that cannot be told.
    mutating func followMoves(
        _ entries: [StoreLister.Entry], to directory: ItemRow, _ known: [[UInt8]: ItemRow], _ path: RelativePath,
        _ rescan: inout Rescan, _ lister: StoreLister
    ) throws -> (moved: Set<[UInt8]>, unclear: Set<[UInt8]>) {
        var (moved, unclear): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
        for entry in entries where entry.local.isOnlyName && known[entry.name]?.local.inode != entry.local.inode {
            guard let source = try rows(inode: entry.local.inode).first(where: { $0.isPresumably(entry.local) }) else {
                continue
            }
            guard try isSource(source, entry, known[entry.name], lister.placeholder(entry, in: path)),
                try hasAnything(of: source, entry, in: path, lister)
            else { continue }
            if source.parent != Schema.limbo, let place = try self.path(of: source) {
                switch placeInStore(place) {
                case .entry(let status) where status.inode == entry.local.inode: continue
                case .entry(let status) where source.isRather(LocalRecord(status, isDataless: false), than: entry.local):
                    continue
                case .entry, .nothing: break
                case .unknown(let errno):
                    // Taken for a new item, it would be one for good, and the row's would be deleted.
                    let unclearPath = path.appending(FileName(unchecked: entry.name))
                    rescan.note(unread: unclearPath, in: directory.id, because: place, errno, now)
                    unclear.insert(entry.name)
                    continue
                }
            }
            // An earlier step may have moved this very row here, or a directory above it.
            guard let parent = try row(directory.id), source.id != parent.id else { continue }
            if let target = try row(in: parent.id, entry.name), target.id != source.id {
                if !source.isTemporary || target.local.kind != .file {
                    try setAside(target, &rescan)
                } else if target.isPlaceholder(replacedBy: source.local),
                    rescan.postpones(entry.name, in: directory.id, path, now)
                {
                    unclear.insert(entry.name)
                    continue
                }
            }
            try move(
                source, to: DirectoryRow(parent), entry.name, entry.status, writersOpen: source.writersOpen,
                isWitnessed: false)
            rescan.report.moved += 1
            moved.insert(entry.name)
        }
        return (moved, unclear)
    }

    /// Whether the row is that of the entry, whose inode it names.
    ///
    /// A base goes on to versions of the same content, as when a time was set or a server gives what is moved another one; the
    /// mark stays what it was when the placeholder was made. So a mark that names the base is proof, and one that does not is
    /// none of the contrary.
    ///
    /// - Parameters:
    ///   - own: the row at the entry's place.
    ///   - mark: what the entry stands for, where it is a placeholder that says so.
    private func isSource(
        _ source: ItemRow, _ entry: StoreLister.Entry, _ own: ItemRow?, _ mark: Placeholder?
    ) throws -> Bool {
        let isRenumbered = try db.meta(MetaKey.renumbered) != nil
        if let mark {
            guard source.base?.container == mark.container.rawValue else { return false }
            // Documents with the same content may have the same version.
            if isRenumbered, let own, own.id != source.id, try isOf(mark, own) { return false }
            if try isOf(mark, source) { return true }
            return !isRenumbered && own?.base == nil && source.isCertainly(entry.local)
        }
        if isRenumbered { return false }
        guard let own, own.id != source.id, own.local.kind == entry.local.kind else { return true }
        return try source.isCertainly(entry.local) && isRing(from: source, to: own)
    }

    /// Whether the mark names the version of a row's base, or one with its content.
    func isOf(_ mark: Placeholder, _ row: ItemRow) throws -> Bool {
        guard let base = row.base, base.container == mark.container.rawValue else { return false }
        let named = try placeholder(row)
        if named.version == mark.version { return true }
        guard let checksum = mark.checksum else { return false }
        return named.checksum == checksum
    }

    /// Whether a directory with the row's inode has anything of what the row has in it: a number that was free is soon that
    /// of a new directory. What cannot be looked at may have.
    func hasAnything(
        of row: ItemRow, _ entry: StoreLister.Entry, in path: RelativePath, _ lister: StoreLister
    ) throws -> Bool {
        guard row.local.kind == .directory else { return true }
        let (names, inodes) = try children(of: row.id).reduce(into: (Set<[UInt8]>(), Set<UInt64>())) { found, child in
            found.0.insert(child.name)
            found.1.insert(child.local.inode)
        }
        guard !names.isEmpty else { return true }
        do {
            let place = path.appending(FileName(unchecked: entry.name))
            guard let listing = try lister.list(place, inode: entry.status.inode) else { return false }
            return !listing.unread.isEmpty
                || listing.entries.contains { names.contains($0.name) || inodes.contains($0.status.inode) }
        } catch {
            return true
        }
    }

    /// Whether places were exchanged: what lies where `source` says leads, by one row after the other, to `own`, or to a place
    /// where nothing of that kind lies. Where it leads to no row, numbers were dealt out anew.
    ///
    /// ```
    /// entry at a ─▶ row b ─▶ entry at b ─▶ row c ─▶ entry at c ─▶ row a
    /// ```
    private func isRing(from source: ItemRow, to own: ItemRow) throws -> Bool {
        var (current, passed): (ItemRow, Set<Int64>) = (source, [])
        while current.id != own.id {
            guard passed.insert(current.id).inserted else { return false }
            guard current.parent != Schema.limbo, let place = try path(of: current),
                case .entry(let status) = placeInStore(place), status.kind == current.local.kind
            else { return true }
            let local = LocalRecord(status, isDataless: false)
            let next = try rows(inode: status.inode).first { $0.isPresumably(local) }
            guard let next else { return false }
            current = next
        }
        return true
    }
}

extension ItemRow {
    /// Whether an entry with this row's inode is this item: inodes are used again.
    func isPresumably(_ local: LocalRecord) -> Bool {
        guard self.local.kind == local.kind, role == .entry else { return false }
        return local.kind == .directory || self.local.size == local.size || self.local.mtime == local.mtime
    }

    /// Whether this is a placeholder, and what is at its place is another file, which has content. The placeholder may have
    /// been moved away: then the provider's version is its own still.
    func isPlaceholder(replacedBy local: LocalRecord) -> Bool {
        self.local.isDataless && !local.isDataless && self.local.inode != local.inode
    }

    /// Whether what is at its place is this item in a copy, and the entry that has its inode's number another one.
    fileprivate func isRather(_ there: LocalRecord, than entry: LocalRecord) -> Bool {
        isPresumably(there) && isCertainly(there) && !isCertainly(entry)
    }

    /// As `isPresumably`, where something speaks against it.
    fileprivate func isCertainly(_ local: LocalRecord) -> Bool {
        local.kind == .directory || self.local.size == local.size && self.local.mtime == local.mtime
    }
}
