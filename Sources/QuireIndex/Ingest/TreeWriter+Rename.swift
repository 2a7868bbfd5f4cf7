import GRDB
import QuireCore

/// Renames, and what of them is a document being saved.
extension TreeWriter {
    /// An event: a rename. It changes ctime, which other names of the inode share.
    mutating func renamed(_ rename: StoreEvent.Rename) throws {
        try follow(rename)
        if rename.status.kind != .directory, rename.status.linkCount > 1 {
            try attributesChanged(rename.status, writersOpen: rename.writersOpen)
        }
        if let exchanged = rename.exchanged, exchanged.kind != .directory, exchanged.linkCount > 1 {
            let isWritten = try rows(inode: exchanged.inode).contains(where: \.writersOpen)
            try attributesChanged(exchanged, writersOpen: isWritten)
        }
    }

    private mutating func follow(_ rename: StoreEvent.Rename) throws {
        let status = rename.status
        if rename.replaced == status.inode { return try attributesChanged(status, writersOpen: rename.writersOpen) }
        let from = try directory(rename.fromParent)
        let to = try directory(rename.toParent)
        if let exchanged = rename.exchanged {
            guard let from, let to else { return }
            return try exchange(rename, from, to, exchanged)
        }
        // Where the target directory is not known, the rescan that finds it finds the item, too, by its inode.
        guard let to else {
            if let from { suspects.insert(from.id) }
            return
        }
        let target = try row(in: to.id, rename.toName.bytes)
        if let target, target.local.inode != status.inode, try isUnwitnessed(target, replacing: rename.replaced) {
            unwitnessed.formUnion([from?.id, to.id].compactMap(\.self))
            return
        }
        let source = try from.flatMap { try row(in: $0.id, rename.fromName.bytes) }
        if let source, source.local.inode == status.inode, source.local.kind == status.kind {
            return try move(source, to: to, rename.toName.bytes, status, writersOpen: rename.writersOpen)
        }
        if source != nil, let from { suspects.insert(from.id) }
        if let target, target.local.inode == status.inode { return }
        if status.mayBePlaceholder {
            // A listing tells what it is; it has a row already if it was moved before without an event.
            unwitnessed.insert(to.id)
            return
        }
        let local = LocalRecord(status, isDataless: false)
        if local.isOnlyName, try isElsewhere(local, than: to.id, rename.toName.bytes) {
            suspects.insert(to.id)
            return
        }
        try appeared(in: to, rename.toName.bytes, local)
    }

    /// Moves a row to another place, over whatever row is there.
    ///
    /// A temporary over a document, or onto a name that was freed a moment ago, is a change of the document's content.
    /// - Parameters:
    ///   - freesName: whether the old name keeps the identity for a while.
    ///   - isWitnessed: whether this was an event. What was moved while nobody looked may have been written as well.
    mutating func move(
        _ source: ItemRow, to parent: DirectoryRow, _ name: [UInt8], _ status: FileStatus, writersOpen: Bool,
        freesName: Bool = true, isWitnessed: Bool = true
    ) throws {
        let target = try row(in: parent.id, name)
        if let target, target.id == source.id { return try attributesChanged(status, writersOpen: writersOpen) }
        if let target {
            if target.local.kind == .file, source.isTemporary,
                target.local.inode != status.inode || target.id < source.id
            {
                return try replaceContent(of: target, by: source, status, writersOpen: writersOpen)
            }
            // A rescan may have put a row there for the same inode, when the rename was done and its event not yet
            // here.
            if target.local.inode == status.inode, target.local.isOnlyName, target.id < source.id {
                var row = target
                try takeWait(of: source.id, for: &row)
                try delete(source)
                return try updatePlaced(row, before: target)
            }
            try delete(target)
        }
        var row = source
        if target == nil, source.isTemporary,
            let identity = try takeIdentity(in: parent, name, kind: .file, for: source)
        {
            try passWait(from: source.id, to: identity.id)
            try delete(source)
            row = ItemRow(
                id: identity.id, parent: parent.id, name: name, local: source.local, container: parent.container,
                isPinned: identity.isPinned, tags: identity.tags, since: now)
            row.local = LocalRecord(status, isDataless: source.local.isDataless)
            row.writersOpen = writersOpen
            row.created = identity.created
            try place(&row, in: parent, name, continues: true)
            try insert(row)
            return try freePlace(of: row)
        }
        if freesName, source.local.kind != .directory, source.role == .entry, !source.isLocalOnly,
            source.parent != Schema.limbo
        {
            state.tunnels.free(source, now: now)
        }
        if isWitnessed {
            carry(&row, status, writersOpen: writersOpen, keepsTime: true)
        } else {
            row.local = LocalRecord(status, isDataless: source.local.isDataless)
        }
        try touch(&row)
        try place(&row, in: parent, name)
        try updatePlaced(row, before: source)
    }

    /// The document keeps its row: id, base, tags, pin. The temporary's row goes.
    private mutating func replaceContent(
        of target: ItemRow, by source: ItemRow, _ status: FileStatus, writersOpen: Bool
    ) throws {
        var row = target
        row.local = LocalRecord(status, isDataless: source.local.isDataless)
        row.writersOpen = writersOpen
        try touch(&row)
        try takeWait(of: source.id, for: &row)
        try delete(source)
        try update(row)
    }

    /// Two entries change places; a temporary and a document change content.
    private mutating func exchange(
        _ rename: StoreEvent.Rename, _ from: DirectoryRow, _ to: DirectoryRow, _ exchanged: FileStatus
    ) throws {
        let source = try row(in: from.id, rename.fromName.bytes)
        let target = try row(in: to.id, rename.toName.bytes)
        guard let source, let target, source.local.inode == rename.status.inode,
            target.local.inode == exchanged.inode
        else {
            suspects.formUnion([from.id, to.id])
            return
        }
        let bothFiles = source.local.kind == .file && target.local.kind == .file
        // What is dataless keeps its base: its content is nowhere else.
        let isHere = !source.local.isDataless && !target.local.isDataless
        if bothFiles, isHere, let document = Self.document(of: source, target) {
            let isSource = document.id == source.id
            try takeContent(source, of: target, exchanged, writersOpen: false, takesWait: isSource)
            try takeContent(target, of: source, rename.status, writersOpen: rename.writersOpen, takesWait: !isSource)
            return
        }
        let bothDirectories = source.local.kind == .directory && target.local.kind == .directory
        if bothDirectories, source.isLocalOnly != target.isLocalOnly {
            let locals = (
                LocalRecord(exchanged, isDataless: false), LocalRecord(rename.status, isDataless: false)
            )
            return try exchangeTrees((source, locals.0), (target, locals.1))
        }
        try swap(source, target, rename, from, to, exchanged)
    }

    /// Which of two files that change places is the document whose content changes; nil where both are, or neither. One that was
    /// never uploaded is, beside one that stays on this device.
    private static func document(of first: ItemRow, _ second: ItemRow) -> ItemRow? {
        if first.isTemporary != second.isTemporary { return first.isTemporary ? second : first }
        guard first.isTemporary, first.isLocalOnly != second.isLocalOnly else { return nil }
        return first.isLocalOnly ? second : first
    }

    private mutating func takeContent(
        _ before: ItemRow, of other: ItemRow, _ status: FileStatus, writersOpen: Bool, takesWait: Bool
    ) throws {
        var row = before
        row.local = LocalRecord(status, isDataless: other.local.isDataless)
        row.writersOpen = writersOpen || other.writersOpen
        try touch(&row)
        if takesWait { try takeWait(of: other.id, for: &row) }
        try update(row)
    }

    private mutating func swap(
        _ source: ItemRow, _ target: ItemRow, _ rename: StoreEvent.Rename, _ from: DirectoryRow, _ to: DirectoryRow,
        _ exchanged: FileStatus
    ) throws {
        try sendToLimbo(source)
        var second = target
        carry(&second, exchanged, writersOpen: target.writersOpen, keepsTime: true)
        try touch(&second)
        // Neither may adopt the base of the other while that one is between two places.
        try place(&second, in: from, rename.fromName.bytes)
        try updatePlaced(second, before: target)
        // The second may have been a directory above the first's target.
        guard let destination = try directory(rename.toParent) else { return }
        var first = source
        carry(&first, rename.status, writersOpen: rename.writersOpen, keepsTime: true)
        try touch(&first)
        try place(&first, in: destination, rename.toName.bytes)
        try updatePlaced(first, before: source)
    }

    /// Frees the row's place for another; its own place is not known yet.
    mutating func sendToLimbo(_ row: ItemRow) throws {
        if row.local.kind == .directory { forgetDirectories() }
        try db.run(
            "UPDATE items SET parent = ?, name = ? WHERE id = ?", .integer(Schema.limbo),
            .blob(Array("\(row.id)".utf8)), .integer(row.id))
    }
}
