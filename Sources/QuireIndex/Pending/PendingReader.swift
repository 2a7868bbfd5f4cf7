import GRDB
import QuireCore

/// Makes pages of what is pending, for the length of one read.
///
/// A page can be planned by itself: with each item come those that have to be done before it or with it.
///
/// ```
/// new or moved X ──needs──▶ the directory it lies in, where the provider has none yet
///                ──needs──▶ what the provider has in X's place: moved away, hidden or deleted here
/// moved directory ─needs──▶ moved directories above it, where the provider has them in it
/// deleted directory ──────▶ all that the provider has in it
/// ```
/// What X needs is usually older than X and gone already, so that a page is hardly more than was asked for.
struct PendingReader {
    private let db: Database
    private let container: String
    private let containerRoot: RelativePath?
    private let holdsDeletes: Bool
    private var reader: ItemReader
    private(set) var page = PendingPage()
    /// What of the rows decides what an item needs, as positions of the page.
    private var rows: [Row] = []
    private var positions: [Key: Int] = [:]
    /// How many more deletions may be loaded because something needs their directory to be empty.
    private var allowance: Int

    private enum Row {
        case item(ItemRow)
        case base(id: Int64, kind: FileKind)
    }

    private enum Key: Hashable {
        case item(Int64)
        case base(Int64)
    }

    init(_ container: ContainerID, root: Int64, holdsDeletes: Bool, allowance: Int, _ db: Database) throws {
        self.db = db
        self.container = container.rawValue
        self.holdsDeletes = holdsDeletes
        self.allowance = allowance
        reader = ItemReader(root: root)
        containerRoot = try Self.rootPath(of: container, &reader, db)
    }

    /// Reads the page that the request asks for.
    mutating func read(_ request: PendingRequest) throws -> PendingPage {
        var keys = PendingKeys(container: container, holdsDeletes: holdsDeletes, request: request)
        var isEmpty = false
        var stage = request.start.stage
        // One page is of one stage.
        while page.items.count < request.limit, keys.cursor.stage == stage || page.items.isEmpty {
            let before = keys
            guard let (found, next) = try keys.next(request.limit - page.items.count, db) else {
                isEmpty = true
                break
            }
            if found != stage, !page.items.isEmpty {
                keys = before
                break
            }
            stage = found
            for key in next { try take(found, key.id, request.skips) }
        }
        page.asked = page.items.count
        for position in page.items.indices { try findNeeds(of: position, loading: stage == .present) }
        var position = page.asked
        while position < page.items.count {
            try findNeeds(of: position, loading: true)
            position += 1
        }
        page.next = isEmpty ? nil : keys.cursor
        if isEmpty { (page.nextChange, page.nextDeletion) = try keys.next(db) }
        return page
    }

    private mutating func take(
        _ stage: PendingCursor.Stage, _ id: Int64, _ skips: (@Sendable (ParkedSubject) -> Bool)?
    ) throws {
        if stage == .present, let skips, skips(.item(ItemID(id))) {
            page.skipped += 1
            return
        }
        let position = stage == .gone ? try add(base: id) : try add(item: id)
        guard let position, stage != .present, let skips, let subject = page.items[position].subject, skips(subject)
        else { return }
        // Always the last one: nothing that another needs was loaded yet.
        page.skipped += 1
        page.items.removeLast()
        rows.removeLast()
        positions = positions.filter { $0.value != position }
    }

    // MARK: Rows

    /// The position of an item; nil when it is not there, or not pending.
    private mutating func add(item id: Int64) throws -> Int? {
        if let known = positions[.item(id)] { return known }
        let found = try db.first(ItemReader.byID, .integer(id), read: ItemReader.raw)
        guard let raw = found, raw.row.pending != 0, raw.row.container == container else { return nil }
        let row = raw.row
        if row.isLocalOnly {
            guard let base = try reader.baseRecord(raw, db) else { return nil }
            return append(.deleted(base, since: row.since, parked: try parked(base)), .item(row), .item(id))
        }
        guard let item = try reader.item(raw, db),
            let path = containerRoot.flatMap({ item.path.removing(ancestor: $0) })
        else { return nil }
        if let parentBase = row.parentBase, let directory = path.parent, row.base == nil || !row.isAtBasePlace,
            let known = try reader.basePaths.path(parentBase, db)
        {
            page.directories[directory] = known
        }
        return append(.present(item, at: path), .item(row), .item(id))
    }

    /// The position of what was deleted; nil when it was not.
    private mutating func add(base id: Int64) throws -> Int? {
        if let known = positions[.base(id)] { return known }
        let found = try db.first(
            "SELECT \(BaseRecord.columns), b.since FROM bases b WHERE b.id = ? AND b.orphan = 1", .integer(id)
        ) { ($0.integer(2), $0.blob(3), BaseRecord($0, path: .root), $0.integer(BaseRecord.columnCount)) }
        guard !holdsDeletes, let (parent, name, record, since) = found,
            let path = try reader.basePaths.path(parent, name, db)
        else { return nil }
        var base = record
        base.path = path
        return append(
            .deleted(base, since: since, parked: try parked(base)), .base(id: id, kind: base.kind), .base(id))
    }

    private mutating func append(_ item: PendingItem, _ row: Row, _ key: Key) -> Int {
        page.items.append(item)
        rows.append(row)
        positions[key] = rows.count - 1
        return rows.count - 1
    }

    // MARK: Needs

    /// - Parameter loading: whether what is in a deleted directory may be loaded; otherwise it has to be there.
    private mutating func findNeeds(of position: Int, loading: Bool) throws {
        switch rows[position] {
        case .base(let id, let kind):
            if kind == .directory { try needContents(of: id, position, loading: loading) }
        case .item(let row):
            if let base = row.base, row.isLocalOnly {
                if base.kind == .directory { try needContents(of: base.id, position, loading: loading) }
            } else if row.base == nil || !row.isAtBasePlace {
                try needPlace(of: row, position)
            }
        }
    }

    private mutating func needPlace(of row: ItemRow, _ position: Int) throws {
        if let parentBase = row.parentBase {
            try needOccupant(of: parentBase, row, position)
        } else {
            need(try add(item: row.parent), position)
        }
        if row.base?.kind == .directory { try needDirectoriesThatLeave(row, position) }
    }

    /// What the provider has where the row is to be. What is not deleted there because a placeholder elsewhere needs it is not
    /// waited for: the provider refuses what would take its place.
    private mutating func needOccupant(of parentBase: Int64, _ row: ItemRow, _ position: Int) throws {
        let occupant = try db.first(
            """
            SELECT b.id, b.orphan, i.id, i.pending FROM bases b LEFT JOIN items i ON i.base = b.id \
            WHERE b.container = ? AND b.parent = ? AND b.name = ? AND (b.orphan <> \(OrphanState.needed) OR i.id IS NOT NULL)
            """, .text(container), .integer(parentBase), .blob(row.name), read: Held.init)
        if let occupant, occupant.base != row.base?.id { try need(occupant, position) }
    }

    /// A directory cannot be moved into one that the provider has in it: that one has to be moved out before.
    private mutating func needDirectoriesThatLeave(_ row: ItemRow, _ position: Int) throws {
        let above = try ancestors(of: row)
        guard var base = above.lazy.compactMap(\.childrenBase).first else { return }
        // A depth that no path has: a damaged index.
        for _ in 0..<100_000 where base != 0 && base != row.base?.id {
            base = try db.first("SELECT parent FROM bases WHERE id = ?", .integer(base), read: { $0.integer(0) }) ?? 0
        }
        guard base != 0 else { return }
        for directory in above where directory.isMoved { need(try add(item: directory.id), position) }
    }

    /// A directory on the way up.
    private struct Ancestor {
        var id: Int64
        var parent: Int64
        /// As `ItemRow.childrenBase`.
        var childrenBase: Int64?
        var isMoved: Bool
    }

    /// The directories that an item lies in, up to the container's root.
    private func ancestors(of row: ItemRow) throws -> [Ancestor] {
        var found: [Ancestor] = []
        var next = row.parent
        while let directory = try ancestor(next), directory.childrenBase != 0, found.count < 100_000 {
            found.append(directory)
            next = directory.parent
        }
        return found
    }

    private func ancestor(_ id: Int64) throws -> Ancestor? {
        try db.first("SELECT id, parent, role, base, pending FROM items WHERE id = ?", .integer(id)) { row in
            Ancestor(
                id: row.integer(0), parent: row.integer(1),
                childrenBase: row.integer(2) == ItemRow.Role.entry.rawValue ? row.optionalInteger(3) : 0,
                isMoved: LocalDifference(rawValue: row.integer(4)).contains(.moved))
        }
    }

    /// All that the provider has in a directory that is deleted.
    private mutating func needContents(of base: Int64, _ position: Int, loading: Bool) throws {
        // Twice as many as may be loaded: some may be here.
        let limit = loading ? allowance + rows.count : rows.count
        let contents = try db.all(
            """
            SELECT b.id, b.orphan, i.id, i.pending FROM bases b LEFT JOIN items i ON i.base = b.id WHERE b.parent = ? \
            LIMIT ?
            """, .integer(base), .integer(Int64(limit + 1)), read: Held.init)
        guard contents.count <= limit else {
            page.items[position].isIncomplete = true
            return
        }
        for held in contents {
            let isKnown = positions[held.key] != nil
            guard isKnown || loading && allowance > 0 || !held.isPending else {
                page.items[position].isIncomplete = true
                return
            }
            if !isKnown { allowance -= 1 }
            try need(held, position)
        }
    }

    /// A base, and what it is linked to.
    private struct Held {
        var base: Int64
        var isOrphan: Bool
        var item: Int64?
        var isPending: Bool

        init(_ row: SQLRow) {
            base = row.integer(0)
            isOrphan = row.flag(1)
            item = row.optionalInteger(2)
            isPending = isOrphan || item != nil && row.integer(3) != 0
        }

        var key: Key { item.map { .item($0) } ?? .base(base) }
    }

    /// One that is not pending is no obstacle that anything here could remove.
    private mutating func need(_ held: Held, _ position: Int) throws {
        guard held.isPending, !holdsDeletes || held.item != nil else { return }
        need(try held.item.map { try add(item: $0) } ?? add(base: held.base), position)
    }

    private mutating func need(_ needed: Int?, _ position: Int) {
        if let needed { page.items[position].needs.append(needed) } else { page.items[position].isIncomplete = true }
    }
}

// MARK: - of a container

extension PendingReader {
    /// The container's root below the drive's; nil when it is not there.
    private static func rootPath(
        of container: ContainerID, _ reader: inout ItemReader, _ db: Database
    ) throws -> RelativePath? {
        if container == .default { return .root }
        let id = try db.first("SELECT id FROM items WHERE role = 1 AND container = ?", .text(container.rawValue)) {
            $0.integer(0)
        }
        return try id.flatMap { try reader.itemPaths.path($0, db) }
    }

    private func parked(_ base: BaseRecord) throws -> ParkedError? {
        try db.first(
            "SELECT message, code, since FROM parked WHERE item = 0 AND container = ? AND path = ?", .text(container),
            .blob(base.path.bytes)
        ) { ParkedError(message: $0.text(0), code: $0.text(1), since: FileTime(nanoseconds: $0.integer(2))) }
    }
}

extension PendingItem {
    fileprivate static func present(_ item: IndexItem, at path: RelativePath) -> PendingItem {
        PendingItem(
            id: item.id, container: item.container, path: path, kind: item.local.kind, local: item.local,
            base: item.base, difference: item.difference, writersOpen: item.writersOpen, isPinned: item.isPinned,
            tags: item.tags, since: item.since, parked: item.parked)
    }

    fileprivate static func deleted(_ base: BaseRecord, since: Int64, parked: ParkedError?) -> PendingItem {
        PendingItem(
            id: nil, container: base.container, path: nil, kind: base.kind, local: nil, base: base,
            difference: .deleted, writersOpen: false, isPinned: false, tags: [],
            since: FileTime(nanoseconds: since), parked: parked)
    }
}
