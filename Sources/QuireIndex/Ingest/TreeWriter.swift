import GRDB
import QuireCore

/// What the ingest thread keeps between transactions, apart from the rows. Restored when a transaction fails.
struct IngestState {
    let epoch: Int64
    let root: Int64
    var nextID: Int64
    var tunnels = TunnelTable()
    var layout: ContainerLayout
    var ephemeral: EphemeralNames
    var types: TypeIDs
    let tagged: TaggedInodes
}

/// A directory, as far as placing entries in it needs it.
struct DirectoryRow {
    var id: Int64
    var container: String
    var role: ItemRow.Role
    var isLocalOnly: Bool
    /// What comes below it is pinned as well.
    var isPinned: Bool
    /// `ItemRow.childrenBase`.
    var childrenBase: Int64?

    init(_ row: ItemRow) {
        self.id = row.id
        self.container = row.container
        self.role = row.role
        self.isLocalOnly = row.isLocalOnly
        self.isPinned = row.isPinned
        self.childrenBase = row.childrenBase
    }
}

/// Applies events to the rows: lives for one transaction, on the ingest thread.
struct TreeWriter {
    let db: Database
    var state: IngestState
    /// When the event that is being applied was recorded.
    var now: Int64 = 0
    /// Directories whose rows turned out not to fit an event: to be listed again.
    var suspects: Set<Int64> = []
    /// Directories in which something has gone without an event: to be listed again, and compared with all others.
    var unwitnessed: Set<Int64> = []
    /// An event named a directory that is not known.
    var missesDirectory = false
    /// Something was applied beside further writes to files that are known to be written to.
    var hasNews = false
    /// Asks the store what is at a path.
    let placeInStore: (RelativePath) -> StoreLister.Place
    private var directories: [UInt64: DirectoryRow] = [:]

    init(db: Database, state: IngestState, placeInStore: @escaping (RelativePath) -> StoreLister.Place) {
        self.db = db
        self.state = state
        self.placeInStore = placeInStore
    }

    // MARK: Rows

    func row(_ id: Int64) throws -> ItemRow? { try db.first(ItemRow.byID, .integer(id), read: ItemRow.init) }

    func row(in parent: Int64, _ name: [UInt8]) throws -> ItemRow? {
        try db.first(ItemRow.byPlace, .integer(parent), .blob(name), read: ItemRow.init)
    }

    func rows(inode: UInt64) throws -> [ItemRow] {
        try db.all(ItemRow.byInode, .integer(Int64(bitPattern: inode)), read: ItemRow.init)
    }

    func children(of parent: Int64) throws -> [ItemRow] {
        try db.all(ItemRow.byParent, .integer(parent), read: ItemRow.init)
    }

    func row(withBase base: Int64) throws -> ItemRow? {
        try db.first(ItemRow.byBase, .integer(base), read: ItemRow.init)
    }

    /// The directory with this inode in the store.
    mutating func directory(_ inode: UInt64) throws -> DirectoryRow? {
        if let known = directories[inode] { return known }
        guard
            let row = try rows(inode: inode).first(where: { $0.local.kind == .directory && $0.parent != Schema.limbo })
        else {
            missesDirectory = true
            return nil
        }
        let directory = DirectoryRow(row)
        directories[inode] = directory
        return directory
    }

    /// The row of a directory is another than it was.
    mutating func forgetDirectories() { directories.removeAll(keepingCapacity: true) }

    mutating func takeID() -> Int64 {
        defer { state.nextID += 1 }
        return nextID
    }

    /// What `takeID` returns next.
    var nextID: Int64 { state.epoch << 32 | state.nextID }

    func path(of row: ItemRow) throws -> RelativePath? {
        if row.role == .driveRoot { return .root }
        var paths = PathBuilder.items(root: state.root)
        return try paths.path(row.parent, row.name, db)
    }

    /// `ItemRow.childrenBase` of a directory.
    func childrenBase(of directory: Int64) throws -> Int64? {
        try db.first("SELECT role, base FROM items WHERE id = ?", .integer(directory)) {
            $0.integer(0) == ItemRow.Role.entry.rawValue ? $0.optionalInteger(1) : 0
        } ?? nil
    }

    // MARK: Writing

    /// The item changed here just now: what it was parked for may be over. The row is not written here.
    func touch(_ row: inout ItemRow) throws {
        row.since = now
        try unpark(row.id)
    }

    func unpark(_ item: Int64) throws { try db.run("DELETE FROM parked WHERE item = ?", .integer(item)) }

    /// Inserts a row; `pending` and `type` are derived.
    mutating func insert(_ row: ItemRow) throws {
        directories[row.local.inode] = nil
        var row = row
        try setType(&row)
        setTimes(&row)
        noteTags(of: row)
        try db.insert(row)
    }

    /// Writes what of a row is another than in the database; `pending` and `type` are derived.
    mutating func update(_ row: ItemRow) throws {
        if row.local.kind == .directory { forgetDirectories() }
        var row = row
        // Since it was read, the directory may have got another base, or lost its own.
        if row.base != nil { row.parentBase = try childrenBase(of: row.parent) }
        try setType(&row)
        setTimes(&row)
        noteTags(of: row)
        try db.update(row)
    }

    /// The file may be another than the one that was tagged. Before it is written: whoever looks meanwhile looks closer.
    private func noteTags(of row: ItemRow) {
        if !row.tags.isEmpty { state.tagged.insert(row.local.inode) }
    }

    /// Removes the row, and all rows below a directory. Bases become orphans: deletions to be uploaded.
    mutating func delete(_ row: ItemRow, orphaning: Bool = true) throws {
        if row.local.kind == .directory {
            forgetDirectories()
            for child in try children(of: row.id) { try delete(child, orphaning: orphaning) }
        }
        try db.run("DELETE FROM items WHERE id = ?", .integer(row.id))
        if orphaning, let base = row.base { try orphan(base.id, leaving: row) }
        try endWait(for: row.id)
    }

    /// A base is linked by nobody any more. One of unknown version is no item the provider told of: nothing to delete; nor is
    /// there where this device was removing it because the provider has nothing of it.
    ///
    /// - Parameters:
    ///   - row: what was linked to it and has gone: its pin and its tags are kept, for when it is back.
    ///   - item: the deletion waits until this one, which was moved to another container, is at the provider of that.
    func orphan(_ base: Int64, leaving row: ItemRow? = nil, awaiting item: Int64? = nil) throws {
        try db.run(
            """
            UPDATE bases SET version = CASE removal WHEN 0 THEN version ELSE '' END, \
            orphan = CASE WHEN version <> '' AND removal = 0 THEN ? ELSE 0 END, since = ?, left_pinned = ?, \
            left_tags = ? WHERE id = ?
            """, .integer(item.map(OrphanState.awaiting) ?? OrphanState.deleted), .integer(now),
            .flag(row?.isPinned ?? false), row.map { SQLValue.text($0.tags) } ?? .null, .integer(base))
    }
}
