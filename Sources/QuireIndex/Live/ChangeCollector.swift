import GRDB
import GRDBSQLite
import QuireCore
import Synchronization

/// What a transaction changed, as far as queries see it.
struct ItemChanges: Sendable {
    /// Items whose attributes changed, that came or went.
    var items: Set<Int64> = []
    /// Names that directories had before they were moved: what lies below them has another path now.
    var movedNames: Set<[UInt8]> = []
    /// Those directories.
    var movedDirectories: Set<Int64> = []

    var isEmpty: Bool { items.isEmpty && movedNames.isEmpty }
}

/// Learns from triggers of the writing connection which items a transaction changed, whoever wrote it, and says so when it is
/// committed. The triggers are there only while somebody listens: otherwise nothing is paid.
///
/// `@unchecked Sendable`: `pending` belongs to whoever has the writing connection.
final class ChangeCollector: TransactionObserver, @unchecked Sendable {
    private var pending = ItemChanges()
    /// Innermost lock: called outside.
    private let listener = Lock<Listener>(Listener())

    private struct Listener {
        var hear: (@Sendable (ItemChanges) -> Void)?
    }

    /// Has `hear` called after each transaction that changes something, on the thread that wrote it; nil ends that. Called on the
    /// writing connection, outside of a transaction's changes.
    func listen(_ db: Database, _ hear: (@Sendable (ItemChanges) -> Void)?) throws {
        let wasListening = listener.withLock { $0.hear != nil }
        if hear != nil, !wasListening {
            try register(db)
            try db.execute(sql: Self.triggers)
        } else if hear == nil, wasListening {
            try db.execute(sql: Self.names.map { "DROP TRIGGER IF EXISTS temp.\($0);" }.joined())
        }
        listener.withLock { $0.hear = hear }
    }

    /// Another connection writes from now on: nobody listens to that. Called while nobody writes.
    func begin() {
        pending = ItemChanges()
        listener.withLock { $0.hear = nil }
    }

    /// Something that queries see of these items changed elsewhere than in the index.
    func tell(_ changes: ItemChanges) { listener.withLock { $0.hear }?(changes) }

    // MARK: Triggers

    private static let names = [
        "live_insert", "live_update", "live_delete", "live_move", "live_copy", "live_copy_gone", "live_copy_moved",
        "live_base", "live_park", "live_repark", "live_unpark",
    ]

    /// A conflict copy changes the state of its document; a base's version is shown.
    private static let triggers = """
        CREATE TEMP TRIGGER live_insert AFTER INSERT ON items BEGIN SELECT quire_changed(new.id); END;
        CREATE TEMP TRIGGER live_update AFTER UPDATE ON items BEGIN SELECT quire_changed(new.id); END;
        CREATE TEMP TRIGGER live_delete AFTER DELETE ON items BEGIN SELECT quire_changed(old.id); END;
        CREATE TEMP TRIGGER live_move AFTER UPDATE OF name, parent ON items
            WHEN new.kind = 1 AND (old.name <> new.name OR old.parent <> new.parent)
            BEGIN SELECT quire_moved(new.id, old.name); END;
        CREATE TEMP TRIGGER live_copy AFTER INSERT ON items WHEN new.conflict_of IS NOT NULL BEGIN
            SELECT quire_changed(i.id) FROM items i WHERE i.parent = new.parent AND i.name = new.conflict_of;
        END;
        CREATE TEMP TRIGGER live_copy_gone AFTER DELETE ON items WHEN old.conflict_of IS NOT NULL BEGIN
            SELECT quire_changed(i.id) FROM items i WHERE i.parent = old.parent AND i.name = old.conflict_of;
        END;
        CREATE TEMP TRIGGER live_copy_moved AFTER UPDATE OF name, parent ON items
            WHEN old.conflict_of IS NOT NULL OR new.conflict_of IS NOT NULL BEGIN
            SELECT quire_changed(i.id) FROM items i WHERE i.parent = old.parent AND i.name = old.conflict_of;
            SELECT quire_changed(i.id) FROM items i WHERE i.parent = new.parent AND i.name = new.conflict_of;
        END;
        CREATE TEMP TRIGGER live_base AFTER UPDATE ON bases WHEN old.version <> new.version BEGIN
            SELECT quire_changed(i.id) FROM items i WHERE i.base = new.id;
        END;
        CREATE TEMP TRIGGER live_park AFTER INSERT ON parked BEGIN SELECT quire_changed(new.item); END;
        CREATE TEMP TRIGGER live_repark AFTER UPDATE ON parked BEGIN SELECT quire_changed(new.item); END;
        CREATE TEMP TRIGGER live_unpark AFTER DELETE ON parked BEGIN SELECT quire_changed(old.item); END;
        """

    private func register(_ db: Database) throws {
        // It lives as long as the connection: the pool keeps its observers.
        let this = Unmanaged.passUnretained(self).toOpaque()
        try SQLFunction.register("quire_changed", 1, in: db, isPure: false, context: this, Self.changed)
        try SQLFunction.register("quire_moved", 2, in: db, isPure: false, context: this, Self.moved)
    }

    private static let changed: SQLFunction.Body = { context, _, values in
        guard let this = of(context), let value = values?[0] else { return }
        this.pending.items.insert(sqlite3_value_int64(value))
        sqlite3_result_null(context)
    }

    private static let moved: SQLFunction.Body = { context, _, values in
        guard let this = of(context), let directory = values?[0], let name = values?[1] else { return }
        this.pending.movedDirectories.insert(sqlite3_value_int64(directory))
        this.pending.movedNames.insert(SQLFunction.bytes(name))
        sqlite3_result_null(context)
    }

    private static func of(_ context: OpaquePointer?) -> ChangeCollector? {
        sqlite3_user_data(context).map { Unmanaged<ChangeCollector>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Transactions

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseDidCommit(_ db: Database) {
        guard !pending.isEmpty else { return }
        let changes = pending
        pending = ItemChanges()
        listener.withLock { $0.hear }?(changes)
    }

    func databaseDidRollback(_ db: Database) { pending = ItemChanges() }
}
