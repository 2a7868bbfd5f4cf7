import GRDB
import QuireCore

/// Entries that appear and go.
extension TreeWriter {
    /// An entry is there: new, or known already (a rescan was faster), or another file than the one known.
    ///
    /// - Parameter keepsChildren: of a directory that is another one now, the rows stay: a listing tells what is
    ///   missing.
    @discardableResult
    mutating func appeared(
        in parent: DirectoryRow, _ name: [UInt8], _ local: LocalRecord, takesFreedName: Bool = true,
        keepsChildren: Bool = false
    ) throws -> ItemRow {
        let (row, before) = try arrived(
            in: parent, name, local, takesFreedName: takesFreedName, keepsChildren: keepsChildren)
        try write(row, before: before)
        return row
    }

    /// As `appeared`, for a row of which more will be known before it is written.
    ///
    /// - Returns: the row, and what of it is in the database: nil where it is to be inserted.
    mutating func arrived(
        in parent: DirectoryRow, _ name: [UInt8], _ local: LocalRecord, takesFreedName: Bool = true,
        keepsChildren: Bool = false
    ) throws -> (row: ItemRow, before: ItemRow?) {
        guard let before = try row(in: parent.id, name) else {
            return (try newRow(in: parent, name, local, takesFreedName: takesFreedName), nil)
        }
        return try replaced(before, in: parent, name, local, keepsChildren: keepsChildren)
    }

    private mutating func write(_ row: ItemRow, before: ItemRow?) throws {
        guard let before else { return try insert(row) }
        if row.local != before.local { try update(row) }
    }

    /// `before` was at that place until now.
    private mutating func replaced(
        _ before: ItemRow, in parent: DirectoryRow, _ name: [UInt8], _ local: LocalRecord, keepsChildren: Bool
    ) throws -> (row: ItemRow, before: ItemRow?) {
        if before.local.kind != local.kind {
            try delete(before)
            return (try newRow(in: parent, name, local, takesFreedName: false), nil)
        }
        guard before.local != local else { return (before, before) }
        var row = before
        if local.kind == .directory, before.local.inode != local.inode, !keepsChildren {
            for child in try children(of: row.id) { try delete(child) }
        }
        if let base = row.base, local.kind != .directory,
            !local.isLike(size: before.local.size, mtime: before.local.mtime), try db.meta(MetaKey.vanished) != nil
        {
            // Made anew where all has gone, with whatever number: as what is made where a deletion is held (`adopt`).
            try removeBase(base.id)
            (row.base, row.acknowledged) = (nil, nil)
            try settleName(&row)
        }
        row.local = local
        try touch(&row)
        return (row, before)
    }

    private mutating func newRow(
        in parent: DirectoryRow, _ name: [UInt8], _ local: LocalRecord, takesFreedName: Bool
    ) throws -> ItemRow {
        var row = ItemRow(id: 0, parent: parent.id, name: name, local: local, container: parent.container, since: now)
        let identity = takesFreedName ? try takeIdentity(in: parent, name, kind: local.kind, for: nil) : nil
        if let identity {
            row.id = identity.id
            row.isPinned = identity.isPinned
            row.tags = identity.tags
            row.created = identity.created
        } else {
            row.id = takeID()
        }
        try place(&row, in: parent, name, continues: identity != nil)
        return row
    }

    /// The identity that waits at a freed name. An item that still carries it gets a fresh id and gives up its base.
    ///
    /// Only a document that was uploaded under that name, or that has an ephemeral name now, gives its identity up: a
    /// temporary that became a document by its rename must not lose it to the next temporary. Nor does a dataless document
    /// that was moved away: the next upload under its old name would be over its only content.
    mutating func takeIdentity(
        in parent: DirectoryRow, _ name: [UInt8], kind: FileKind, for row: ItemRow?
    ) throws -> TunnelTable.Identity? {
        guard let identity = state.tunnels.take(parent: parent.id, name: name, kind: kind, now: now),
            identity.id != row?.id
        else { return nil }
        guard var holder = try self.row(identity.id) else { return identity }
        // Its content is nowhere but at the provider: what stands for that stays with it.
        guard !holder.local.isDataless else { return nil }
        if let base = holder.base {
            let isHere = base.container == parent.container && base.parent == parent.childrenBase && base.name == name
            guard isHere else { return nil }
            try unlink(&holder)
        } else if !holder.isLocalOnly {
            return nil
        }
        try db.run("DELETE FROM items WHERE id = ?", .integer(holder.id))
        holder.id = takeID()
        holder.isPinned = false
        holder.tags = ""
        holder.created = 0
        // It may have come to the place of another.
        try adopt(&holder)
        try insert(holder)
        return identity
    }

    /// An event: a new entry.
    ///
    /// - Parameter isWritten: and its content was written and closed; `status` is from afterwards.
    mutating func created(
        parent inode: UInt64, _ name: [UInt8], _ status: FileStatus, isWritten: Bool = false
    ) throws {
        guard let parent = try directory(inode) else { return }
        let local = LocalRecord(status, isDataless: false)
        let known = try row(in: parent.id, name)
        if let known, known.local.inode == local.inode, known.local.kind == local.kind {
            // A rescan saw it first, perhaps as a later write left it; that write's own event comes.
            if isWritten { try contentChanged(status, writersOpen: false) }
            return
        }
        if let known, try isUnwitnessed(known) {
            unwitnessed.insert(parent.id)
            return
        }
        if local.isOnlyName, try isElsewhere(local, than: parent.id, name) {
            suspects.insert(parent.id)
            return
        }
        if let known, try row(known.id) != nil {
            let (row, before) = try replaced(known, in: parent, name, local, keepsChildren: false)
            try write(row, before: before)
        } else {
            try insert(try newRow(in: parent, name, local, takesFreedName: true))
        }
        if !local.isOnlyName { try attributesChanged(status, writersOpen: false) }
    }

    /// Whether the one name of an inode is known to be another, and is so in the store: then the event is older than
    /// what a rescan saw. Also where the store cannot tell. Rows that it contradicts are dropped, but for placeholders and
    /// directories with such: those have no number then.
    mutating func isElsewhere(_ local: LocalRecord, than parent: Int64, _ name: [UInt8]) throws -> Bool {
        for other in try rows(inode: local.inode) where other.parent != parent || other.name != name {
            if other.parent != Schema.limbo, let path = try path(of: other) {
                switch placeInStore(path) {
                case .entry(let status) where status.inode == local.inode && other.local.kind == local.kind: return true
                case .entry, .nothing: break
                // Whether it is the same item is for a listing to tell.
                case .unknown: if other.local.kind == local.kind { return true } else { continue }
                }
            }
            if other.parent != Schema.limbo { suspects.insert(other.parent) }
            guard try hasDataless(other) else {
                try removeEntry(other)
                continue
            }
            // The provider has its only content, and its placeholder may have another number: for a rescan to tell.
            var nameless = other
            nameless.local.inode = 0
            try update(nameless)
        }
        return false
    }

    /// An event: an entry went away.
    mutating func removed(parent inode: UInt64, _ name: [UInt8], inode removed: UInt64) throws {
        guard let parent = try directory(inode), let row = try row(in: parent.id, name) else { return }
        guard row.local.inode == removed else {
            suspects.insert(parent.id)
            return
        }
        if row.local.kind == .directory, try hasDataless(row) { return try removeEmptied(row) }
        try removeEntry(row)
    }

    /// Removes a row; its name keeps the identity for a while.
    mutating func removeEntry(_ row: ItemRow) throws {
        if row.role == .entry, !row.isLocalOnly, row.parent != Schema.limbo { state.tunnels.free(row, now: now) }
        try delete(row)
    }

    /// An event: content may have changed. Concerns every name of the inode.
    ///
    /// What is written again and again by who has it open has waited to be sent since the first write, or since a snapshot of it was
    /// sent, and is news to nobody.
    mutating func contentChanged(_ status: FileStatus, writersOpen: Bool) throws {
        for before in try rows(inode: status.inode) where before.local.kind == status.kind {
            let isRepeated = writersOpen && before.writersOpen && !before.local.isDataless
            var row = before
            let changed = status.fingerprint != row.local.fingerprint
            row.local = LocalRecord(status, isDataless: row.local.isDataless && !changed)
            row.writersOpen = writersOpen
            if row.acknowledged == status.fingerprint, !writersOpen, row.local.kind == .file,
                status.fingerprint.isRacy(takenAt: FileTime(nanoseconds: now))
            {
                // Written in the very tick of the acknowledged state: the fingerprint proves nothing.
                row.acknowledged = nil
            }
            if isRepeated {
                if changed { try unpark(row.id) }
            } else {
                hasNews = true
                if changed || writersOpen || before.writersOpen { try touch(&row) }
            }
            try update(row)
        }
    }

    /// An event: attributes changed. Carries the acknowledged fingerprint when content was as acknowledged.
    mutating func attributesChanged(_ status: FileStatus, writersOpen: Bool, setsTimes: Bool = false) throws {
        for before in try rows(inode: status.inode) where before.local.kind == status.kind {
            var row = before
            carry(&row, status, writersOpen: writersOpen, keepsTime: !setsTimes)
            guard row.local != before.local || row.writersOpen != before.writersOpen else { continue }
            try touch(&row)
            try update(row)
        }
    }

    /// Takes over a status that was read after something other than a write. The fingerprint changed with ctime,
    /// content did not: what was acknowledged stays so, provided inode and size say nothing else and nobody was
    /// writing.
    ///
    /// - Parameter keepsTime: the operation does not set mtime; where that is another, there was a write as well.
    func carry(_ row: inout ItemRow, _ status: FileStatus, writersOpen: Bool, keepsTime: Bool = false) {
        let isSame = row.local.inode == status.inode && row.local.size == status.size
        let isWritten = keepsTime && row.local.mtime != status.mtime
        if row.hasAcknowledgedContent, !writersOpen, isSame, !isWritten { row.acknowledged = status.fingerprint }
        row.local = LocalRecord(status, isDataless: row.local.isDataless && isSame)
        row.writersOpen = writersOpen
    }
}
