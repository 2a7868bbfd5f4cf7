import GRDB
import QuireCore

/// Whether the store is the one that the rows were made of.
extension TreeWriter {
    /// Makes the root's row, or brings it after the directory that is there; before anything in it is compared, and before
    /// anything comes to it.
    ///
    /// - Parameter isOpening: nobody has looked at the store since an earlier daemon.
    mutating func meetStore(_ status: FileStatus, _ lister: StoreLister, isOpening: Bool) throws {
        let isOther = try meetRoot(status)
        try meetFilesystem(lister.filesystem(), isOther: isOther)
        guard isOpening || isOther else { return }
        // Names of what was made anew since prove nothing, either.
        let hadVanished = try db.meta(MetaKey.vanished) != nil
        let hasVanished = try hasVanished(lister, isOther: isOther || hadVanished)
        if hasVanished || hadVanished {
            try db.setMeta(MetaKey.vanished, hasVanished ? "1" : nil)
        }
        if hasVanished {
            // In the transaction that sees it: documents may be in the store before it is compared.
            let count = try db.first("SELECT count(base) FROM items", read: { $0.integer(0) }) ?? 0
            try db.setMeta(MetaKey.heldDeletes, String(count))
        }
    }

    /// Notes where inodes may have been numbered anew: the home was copied, or restored.
    private func meetFilesystem(_ filesystem: String?, isOther: Bool) throws {
        let before = try db.meta(MetaKey.filesystem)
        if try isOther || before != nil && filesystem != nil && before != filesystem && !namesFiles() {
            try db.setMeta(MetaKey.renumbered, "1")
        }
        if let filesystem, filesystem != before { try db.setMeta(MetaKey.filesystem, filesystem) }
    }

    /// Whether a file is the very one that its row names: then the inodes are the former ones, whatever the system calls the
    /// file system. Its word for some goes by the number of the device, which is another with each order of the disks. No
    /// copy has the time of change of what it was made of.
    private func namesFiles() throws -> Bool {
        let rows = try db.all(
            "SELECT \(ItemRow.columns) FROM \(ItemRow.tables) WHERE i.role = ? ORDER BY i.id LIMIT 256",
            .integer(ItemRow.Role.entry.rawValue), read: ItemRow.init)
        return try rows.contains { row in
            guard row.local.kind == .file, row.parent != Schema.limbo, let path = try path(of: row),
                case .entry(let status) = placeInStore(path)
            else { return false }
            return status.fingerprint == row.local.fingerprint
        }
    }

    /// - Returns: whether it is another directory than before.
    private mutating func meetRoot(_ status: FileStatus) throws -> Bool {
        guard var root = try row(state.root) else {
            try insert(
                ItemRow(
                    id: state.root, parent: Schema.noParent, name: [], local: LocalRecord(status, isDataless: false),
                    container: ContainerID.default.rawValue, role: .driveRoot, since: now))
            return false
        }
        guard root.local.inode != status.inode else { return false }
        root.local = LocalRecord(status, isDataless: false)
        try update(root)
        return true
    }

    /// Whether the store has nothing of what a provider has and the rows name: it was removed or emptied, left out when the
    /// home was restored, or lies on a disk that is not there.
    private func hasVanished(_ lister: StoreLister, isOther: Bool) throws -> Bool {
        guard try db.first("SELECT 1 FROM items WHERE base IS NOT NULL LIMIT 1", read: { _ in true }) ?? false else {
            return false
        }
        // The directories of containers are made anew by themselves: it is what lies in them that tells.
        for role in [ItemRow.Role.driveRoot, .containerRoot] {
            let directories = try db.all(
                "SELECT \(ItemRow.columns) FROM \(ItemRow.tables) WHERE i.role = ?", .integer(role.rawValue),
                read: ItemRow.init)
            for directory in directories where try hasSomething(of: directory, lister, isOther: isOther) {
                return false
            }
        }
        return true
    }

    /// Whether something in a directory is known, by its name or as something that was moved there. What cannot be looked
    /// at may be. Where the store is another directory, a name alone says nothing: the file may have been made anew.
    private func hasSomething(of directory: ItemRow, _ lister: StoreLister, isOther: Bool) throws -> Bool {
        guard let path = try path(of: directory) else { return false }
        let isKnown = try lister.holdsName(in: path) { name in
            guard let row = try row(in: directory.id, name), row.role == .entry, !row.isLocalOnly else { return false }
            return try !isOther || mayBe(row, name, in: path, lister)
        }
        if isKnown { return true }
        guard case .entry(let status) = lister.look(at: path) else { return false }
        do {
            guard let listing = try lister.list(path, inode: status.inode) else { return false }
            if !listing.unread.isEmpty { return true }
            return try listing.entries.contains { entry in
                try rows(inode: entry.status.inode).contains { row in
                    try !row.isLocalOnly && row.isPresumably(entry.local)
                        && hasAnything(of: row, entry, in: path, lister)
                }
            }
        } catch is ListError {
            return true
        }
    }

    /// Whether what has a row's name in a directory can be the same, or a copy.
    private func mayBe(_ row: ItemRow, _ name: [UInt8], in path: RelativePath, _ lister: StoreLister) throws -> Bool {
        switch placeInStore(path.appending(FileName(unchecked: name))) {
        case .nothing: return false
        case .unknown: return true
        case .entry(let status):
            return try row.isPresumably(LocalRecord(status, isDataless: false))
                && hasAnything(of: row, StoreLister.Entry(name: name, status: status), in: path, lister)
        }
    }
}
