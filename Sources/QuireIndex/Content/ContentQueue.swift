import GRDB
import GRDBSQLite
import QuireCore
import Synchronization

/// Learns from triggers of the writing connection whose content may have to be read, or forgotten. The triggers are there only
/// where the words of documents are kept.
///
/// `@unchecked Sendable`: `pending` belongs to whoever has the writing connection.
final class ContentQueue: TransactionObserver, @unchecked Sendable {
    /// What waits.
    struct Waiting: Sendable {
        var items: Set<Int64> = []
        var pass: Pass?
    }

    /// All items are compared with what was read, in the order of their ids.
    struct Pass: Sendable, Hashable {
        /// Another for each pass.
        let number: Int
        /// Those after this one are left.
        var after: Int64 = .min
    }

    /// Most items that are remembered; where there are more, all are compared.
    private static let limit = 20_000

    private var pending: Set<Int64> = []
    /// Innermost lock: the signal is given outside. The first pass finds what was missed while no daemon ran.
    private let waiting = Lock(Waiting(pass: Pass(number: 0)))
    /// An element whenever there is something new; several may come as one.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    deinit { signal.finish() }

    /// Has the writing connection tell; all items are compared anew.
    func listen(to pool: DatabasePool) throws {
        try pool.writeWithoutTransaction { try listen($0) }
        pool.add(transactionObserver: self, extent: .databaseLifetime)
        compareAll()
    }

    private func listen(_ db: Database) throws {
        // It lives as long as the connection: the pool keeps its observers.
        let this = Unmanaged.passUnretained(self).toOpaque()
        try SQLFunction.register("quire_content", 1, in: db, isPure: false, context: this, Self.changed)
        try db.execute(sql: Self.triggers)
    }

    /// All items are compared again.
    func compareAll() {
        waiting.withLock { $0 = Waiting(pass: Pass(number: ($0.pass?.number ?? 0) + 1)) }
        signal.yield()
    }

    func end() { signal.finish() }

    /// The next items to look at, of which no more is remembered.
    func take(_ count: Int) -> [Int64] {
        waiting.withLock { waiting in
            let taken = Array(waiting.items.prefix(count))
            waiting.items.subtract(taken)
            return taken
        }
    }

    /// How far the comparison of all items is; nil when none is under way.
    var pass: Pass? { waiting.withLock { $0.pass } }

    /// A part of a pass is done, up to the item `end`; nil when all is. Where another has begun meanwhile, that goes on.
    func continued(_ pass: Pass, to end: Int64?) {
        waiting.withLock { waiting in
            guard waiting.pass == pass else { return }
            waiting.pass = end.map { Pass(number: pass.number, after: $0) }
        }
    }

    var isEmpty: Bool { waiting.withLock { $0.items.isEmpty && $0.pass == nil } }

    /// They could not be seen to: they are looked at again.
    func putBack(_ items: [Int64]) { add(Set(items)) }

    private func add(_ items: Set<Int64>) {
        waiting.withLock { waiting in
            waiting.items.formUnion(items)
            guard waiting.items.count > Self.limit else { return }
            waiting = Waiting(pass: Pass(number: (waiting.pass?.number ?? 0) + 1))
        }
        signal.yield()
    }

    // MARK: Triggers

    private static let triggers = """
        CREATE TEMP TRIGGER content_insert AFTER INSERT ON items WHEN new.kind = 0 BEGIN
            SELECT quire_content(new.id);
        END;
        CREATE TEMP TRIGGER content_update AFTER UPDATE OF generation, dataless, type, writers, local_only ON items
            WHEN new.kind = 0 AND (old.generation <> new.generation OR old.dataless <> new.dataless
                OR old.type <> new.type OR old.writers <> new.writers OR old.local_only <> new.local_only) BEGIN
            SELECT quire_content(new.id);
        END;
        CREATE TEMP TRIGGER content_delete AFTER DELETE ON items WHEN old.kind = 0 BEGIN
            SELECT quire_content(old.id);
        END;
        """

    private static let changed: SQLFunction.Body = { context, _, values in
        guard let value = values?[0], let known = sqlite3_user_data(context) else { return }
        Unmanaged<ContentQueue>.fromOpaque(known).takeUnretainedValue().pending.insert(sqlite3_value_int64(value))
        sqlite3_result_null(context)
    }

    // MARK: Transactions

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseDidCommit(_ db: Database) {
        guard !pending.isEmpty else { return }
        add(pending)
        pending = []
    }

    func databaseDidRollback(_ db: Database) { pending = [] }
}
