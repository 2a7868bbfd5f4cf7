import GRDB
import QuireCore

/// Walks what is pending in the order of `PendingCursor`, by indexes that cover the query: what is passed over costs no row.
struct PendingKeys {
    let container: String
    /// Deletions are held: none is told of.
    let holdsDeletes: Bool
    let request: PendingRequest
    private(set) var cursor: PendingCursor

    /// One row.
    struct Key {
        var id: Int64
        var since: Int64
    }

    init(container: String, holdsDeletes: Bool, request: PendingRequest) {
        self.container = container
        self.holdsDeletes = holdsDeletes
        self.request = request
        cursor = request.start
    }

    /// Up to `limit` keys of one stage; nil when there are no more of any.
    mutating func next(_ limit: Int, _ db: Database) throws -> (stage: PendingCursor.Stage, keys: [Key])? {
        while true {
            let keys = try keys(limit, db)
            if let last = keys.last {
                cursor.since = last.since
                cursor.id = last.id
                return (cursor.stage, keys)
            }
            guard let stage = PendingCursor.Stage(rawValue: cursor.stage.rawValue + 1), stage != .gone || !holdsDeletes
            else { return nil }
            // Of what is gone, the youngest base comes first: a directory's is older than those of what was in it.
            cursor = PendingCursor(stage: stage, id: stage == .gone ? .max : .min)
        }
    }

    private func keys(_ limit: Int, _ db: Database) throws -> [Key] {
        let (same, later) = Self.sql(cursor.stage)
        func read(_ row: SQLRow) -> Key { Key(id: row.integer(0), since: row.integer(1)) }
        var found: [Key] = []
        let through = through(cursor.stage)
        let now = request.now.nanoseconds
        if cursor.since <= through || cursor.since > now {
            found = try db.all(
                same, .text(container), .integer(cursor.since), .integer(cursor.id), .integer(Int64(limit)), read: read)
        }
        for (after, upTo) in [(cursor.since, through), (max(cursor.since, now), .max)]
        where found.count < limit && after < upTo {
            found += try db.all(
                later, .text(container), .integer(after), .integer(upTo), .integer(Int64(limit - found.count)),
                read: read)
        }
        return found
    }

    private static let items = "items INDEXED BY items_due WHERE pending <> 0"
    private static let bases = "bases INDEXED BY bases_due WHERE orphan = 1"
    private static let deleted = LocalDifference.deleted.rawValue

    /// Those with the cursor's time and beyond its id, and those of a range of times.
    private static func sql(_ stage: PendingCursor.Stage) -> (same: String, later: String) {
        let rows: String
        let order: (compare: String, direction: String)
        switch stage {
        case .present: (rows, order) = ("\(Self.items) AND pending <> \(Self.deleted)", (">", "ASC"))
        case .hidden: (rows, order) = ("\(Self.items) AND pending = \(Self.deleted)", (">", "ASC"))
        case .gone: (rows, order) = (Self.bases, ("<", "DESC"))
        }
        let select = "SELECT id, since FROM \(rows) AND container = ?"
        return (
            "\(select) AND since = ? AND id \(order.compare) ? ORDER BY id \(order.direction) LIMIT ?",
            "\(select) AND since > ? AND since <= ? ORDER BY since, id \(order.direction) LIMIT ?"
        )
    }

    private func through(_ stage: PendingCursor.Stage) -> Int64 {
        (stage == .present ? request.through : request.deletionsThrough).nanoseconds
    }

    /// When the oldest of what is younger than the request's limits changed.
    func next(_ db: Database) throws -> (change: FileTime?, deletion: FileTime?) {
        let hidden = try next("\(Self.items) AND pending = \(Self.deleted)", .hidden, db)
        let gone = holdsDeletes ? nil : try next(Self.bases, .gone, db)
        return (
            try next("\(Self.items) AND pending <> \(Self.deleted)", .present, db),
            [hidden, gone].compactMap(\.self).min()
        )
    }

    private func next(_ rows: String, _ stage: PendingCursor.Stage, _ db: Database) throws -> FileTime? {
        try db.first(
            "SELECT since FROM \(rows) AND container = ? AND since > ? AND since <= ? ORDER BY since LIMIT 1",
            .text(container), .integer(through(stage)), .integer(request.now.nanoseconds),
            read: { FileTime(nanoseconds: $0.integer(0)) })
    }
}
