import QuireCore

/// Events of the sync engine: what it changed in the store, and what the provider acknowledged.
extension TreeWriter {
    /// Applies one event.
    mutating func apply(_ event: StoreEvent) throws {
        switch event {
        case .created(let parent, let name, let status): try created(parent: parent, name.bytes, status)
        case .removed(let parent, let name, let inode): try removed(parent: parent, name.bytes, inode: inode)
        case .renamed(let rename): try renamed(rename)
        case .contentChanged(let status, let writersOpen): try contentChanged(status, writersOpen: writersOpen)
        case .attributesChanged(let status, let writersOpen, let setsTimes):
            try attributesChanged(status, writersOpen: writersOpen, setsTimes: setsTimes)
        case .committed(let commit): try committed(commit)
        case .uploading(let intent): try insert(intent)
        case .acknowledged(let acknowledgement): try acknowledged(acknowledgement)
        case .baseRemoved(let container, let path): try baseRemoved(container, path)
        case .removing(let container, let paths): try noteRemovals(container, paths)
        case .baseMoved(let container, let from, let record): try baseMoved(container, from: from, record)
        case .counted(let item, let version, let checksum): try counted(item, version, checksum)
        }
    }

    private mutating func committed(_ commit: StoreEvent.Commit) throws {
        switch commit.change {
        case .installed(let parent, let name, let status, let dataless):
            guard let directory = try directory(parent) else { return }
            try installed(in: directory, name.bytes, LocalRecord(status, isDataless: dataless), commit)
        case .moved(let fromParent, let fromName, let toParent, let toName, let status):
            try moved(fromParent, fromName.bytes, toParent, toName.bytes, status, commit)
        case .removed(let parent, let name, let inode):
            guard let directory = try directory(parent), let row = try row(in: directory.id, name.bytes),
                row.local.inode == inode
            else { return }
            // The base stays until `.baseRemoved` says that the provider has nothing either: without it, and without
            // `.removing` before, this is a deletion to be uploaded.
            try delete(row)
        case .attributes(let status):
            try attributesSet(status, commit.base)
        }
        if let status = commit.otherNames {
            let isWritten = try rows(inode: status.inode).contains(where: \.writersOpen)
            try attributesChanged(status, writersOpen: isWritten)
        }
    }

    /// Another file, placeholder or directory is there, and it equals `base`; where that is nil the base stays what it
    /// was, and what was installed is an edit of it.
    private mutating func installed(
        in directory: DirectoryRow, _ name: [UInt8], _ local: LocalRecord, _ commit: StoreEvent.Commit
    ) throws {
        var (row, before) = try arrived(in: directory, name, local)
        row.writersOpen = false
        if let base = commit.base {
            try setBase(&row, base, movesBase: false, isNews: true, at: commit.basePlace)
            if row.base != nil {
                row.acknowledged = local.fingerprint
                try endWait(for: row.id)
            }
        } else {
            row.acknowledged = nil
            row.since = now
        }
        if let before { try updatePlaced(row, before: before) } else { try insert(row) }
    }

    private mutating func moved(
        _ fromParent: UInt64, _ fromName: [UInt8], _ toParent: UInt64, _ toName: [UInt8], _ status: FileStatus,
        _ commit: StoreEvent.Commit
    ) throws {
        let base = commit.base
        guard let to = try directory(toParent) else { return }
        let source = try directory(fromParent).flatMap { try row(in: $0.id, fromName) }
        if let source, source.local.inode == status.inode {
            // A move that follows the provider's frees no identity: whatever comes to the old name is another item.
            try move(source, to: to, toName, status, writersOpen: false, freesName: base == nil)
        } else {
            try appeared(in: to, toName, LocalRecord(status, isDataless: false), takesFreedName: false)
        }
        guard let base, var row = try row(in: to.id, toName) else { return }
        let before = row
        try setBase(&row, base, movesBase: true, isNews: true, at: commit.basePlace)
        try updatePlaced(row, before: before)
    }

    /// Mode and mtime were set to the provider's. Hard links share them; the record is that of one.
    private mutating func attributesSet(_ status: FileStatus, _ base: BaseRecord?) throws {
        try attributesChanged(status, writersOpen: false, setsTimes: true)
        guard let base else { return }
        if base.toldTags != nil, let known = try self.base(base.container, at: base.path) {
            try takeTags(of: base, intoHolderOf: known.id)
        }
        try setBase(base)
    }

    /// The provider has what was uploaded, and says what that is now. Clean only if nothing changed since.
    private mutating func acknowledged(_ acknowledgement: StoreEvent.Acknowledgement) throws {
        try deleteIntents(of: acknowledgement.item)
        guard let before = try row(acknowledgement.item.rawValue),
            before.container == acknowledgement.base.container.rawValue,
            try !before.isLocalOnly || isFound(before, as: acknowledgement.base)
        else {
            // Gone, or elsewhere: what the provider has is a deletion to be uploaded.
            try awaitMoved(acknowledgement.item.rawValue, setBase(acknowledgement.base))
            return
        }
        var row = before
        // What was sent was read from the store after the last event: it is what the item is now. Times do not tell which of
        // two states is the later, as the clock may be set back.
        let known = acknowledgement.known
        if known == row.local.fingerprint, acknowledgement.fingerprint.isOfSameFile(as: row.local.fingerprint),
            !acknowledgement.writersOpen
        {
            row.local.take(acknowledgement.fingerprint)
        }
        // Who acknowledges has asked for open writers just now. One that came since says so itself when it closes.
        row.writersOpen = acknowledgement.writersOpen
        try setBase(&row, acknowledgement.base, movesBase: false, isNews: false)
        if row.base != nil {
            row.acknowledged = acknowledgement.writersOpen ? nil : acknowledgement.fingerprint
            // What is written from here on waits from here on.
            if acknowledgement.writersOpen { row.since = now }
            // What is at the provider in its place is not it, where that stays to be sent: see `SyncContext.acknowledgeChanged`.
            if !acknowledgement.writersOpen || known != nil { try endWait(for: row.id) }
        }
        try updatePlaced(row, before: before)
    }

    /// What arrived at the provider of the container that it was moved out of meanwhile is all that there is of it beside this
    /// device, until it is at the other one.
    private func awaitMoved(_ item: Int64, _ base: Int64?) throws {
        guard let base, let row = try row(item), row.goesUp, !row.difference.isDisjoint(with: [.created, .content]),
            try self.row(withBase: base) == nil
        else { return }
        try orphan(base, awaiting: item)
    }

    /// Whether what only its name keeps here is where the provider has it.
    private func isFound(_ row: ItemRow, as record: BaseRecord) throws -> Bool {
        guard let parentBase = row.parentBase, try isLocalByNameOnly(row) else { return false }
        var paths = PathBuilder.bases
        return try paths.path(parentBase, row.name, db) == record.path
    }
}
