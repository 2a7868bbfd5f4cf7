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
        if isOpening || isOther, try hasVanished(lister) {
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
    private func hasVanished(_ lister: StoreLister) throws -> Bool {
        guard try db.first("SELECT 1 FROM items WHERE base IS NOT NULL LIMIT 1", read: { _ in true }) ?? false else {
            return false
        }
        // The directories of containers are made anew by themselves: it is what lies in them that tells.
        for role in [ItemRow.Role.driveRoot, .containerRoot] {
            let directories = try db.all(
                "SELECT \(ItemRow.columns) FROM \(ItemRow.tables) WHERE i.role = ?", .integer(role.rawValue),
                read: ItemRow.init)
            for directory in directories where try hasSomething(of: directory, lister) { return false }
        }
        return true
    }

    /// Whether something in a directory is known, by its name or as something that was moved there. What cannot be looked
    /// at may be.
    private func hasSomething(of directory: ItemRow, _ lister: StoreLister) throws -> Bool {
        guard let path = try path(of: directory) else { return false }
        let isKnown = try lister.holdsName(in: path) { name in
            try row(in: directory.id, name).map { $0.role == .entry && !$0.isLocalOnly } ?? false
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
}
