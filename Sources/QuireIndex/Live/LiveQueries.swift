import GRDB
package import Logging
package import QuireCore

/// The running queries of an index. A change is tested against each of them; none is run again.
///
/// One task does all work in order: a query is started between two changes, so that it misses none and hears of none twice.
package final class LiveQueries: Sendable {
    private enum Work: Sendable {
        case start(LiveQuery, CheckedContinuation<Result<[ItemID], IndexError>, Never>)
        case stop(LiveQuery)
        case changed(ItemChanges)
        case mark(CheckedContinuation<Void, Never>)
    }

    private let index: MetadataIndex
    private let transfers: @Sendable () -> [ItemID: ItemState]
    private let logger: Logger
    private let work: AsyncStream<Work>.Continuation
    private let task: Task<Void, Never>

    /// - Parameter transfers: what the sync engine does with items now; called on any thread.
    package init(
        _ index: MetadataIndex, transfers: @escaping @Sendable () -> [ItemID: ItemState], logger: Logger
    ) {
        self.index = index
        self.transfers = transfers
        self.logger = logger
        let (stream, work) = AsyncStream<Work>.makeStream()
        self.work = work
        var worker = LiveWorker(index: index, transfers: transfers, logger: logger) { work.yield(.changed($0)) }
        task = Task {
            for await piece in stream {
                switch piece {
                case .start(let query, let continuation): continuation.resume(returning: await worker.start(query))
                case .stop(let query): await worker.stop(query)
                case .changed(let changes): await worker.changed(changes)
                case .mark(let continuation): continuation.resume()
                }
            }
            worker.end()
        }
    }

    deinit { work.finish() }

    /// Starts a query; `stop` ends it.
    ///
    /// - Returns: the query, and the ids of what it finds now, in its order. From there on it tells each change once.
    package func start(_ query: ItemQuery) async throws(IndexError) -> (LiveQuery, [ItemID]) {
        let live = LiveQuery(query)
        let found = await withCheckedContinuation { work.yield(.start(live, $0)) }
        return (live, try found.get())
    }

    /// Returns when every change that was committed before the call can be taken from the queries.
    package func settle() async { await withCheckedContinuation { _ = work.yield(.mark($0)) } }

    package func stop(_ query: LiveQuery) { work.yield(.stop(query)) }

    /// The sync engine begins or ends something with the item.
    package func noteTransfer(of item: ItemID) { work.yield(.changed(ItemChanges(items: [item.rawValue]))) }
}

/// What `LiveQueries` does, in its one task.
private struct LiveWorker {
    let index: MetadataIndex
    let transfers: @Sendable () -> [ItemID: ItemState]
    let logger: Logger
    let hear: @Sendable (ItemChanges) -> Void
    private var queries: [LiveQuery] = []

    init(
        index: MetadataIndex, transfers: @escaping @Sendable () -> [ItemID: ItemState], logger: Logger,
        hear: @escaping @Sendable (ItemChanges) -> Void
    ) {
        self.index = index
        self.transfers = transfers
        self.logger = logger
        self.hear = hear
    }

    mutating func start(_ live: LiveQuery) async -> Result<[ItemID], IndexError> {
        do throws(IndexError) {
            if queries.isEmpty { try await index.collectChanges(hear) }
            queries.append(live)
            try await index.settle()
            let transfers = transfers()
            return .success(
                try await index.read("a live query") { [root = index.root] db in
                    var query = live.query
                    query.transfers = transfers
                    var search = ItemSearch(query, root: root)
                    let ids = try search.run(db)
                    for item in try search.items(ids, db) {
                        live.results[item.id.rawValue] = LiveQuery.Result(LiveItem(item, transfers: transfers))
                    }
                    return ids.map { ItemID($0) }
                })
        } catch {
            await stop(live)
            return .failure(error)
        }
    }

    mutating func stop(_ live: LiveQuery) async {
        queries.removeAll { $0 === live }
        live.end()
        guard queries.isEmpty else { return }
        do { try await index.collectChanges(nil) } catch {
            // They cost a little; the next query finds them there.
            logger.info("live queries: triggers stay", metadata: ["error": "\(error)"])
        }
    }

    func changed(_ changes: ItemChanges) async {
        guard !queries.isEmpty else { return }
        let (queries, transfers, root) = (queries, transfers(), index.root)
        do {
            try await index.read("a change") { db in
                var evaluation = LiveEvaluation(db: db, root: root, queries: queries, transfers: transfers)
                try evaluation.consider(changes)
            }
        } catch {
            guard error.code != .closed else { return }
            // Told late is better than never: whoever asks next sees it.
            logger.error("live queries missed a change", metadata: ["error": "\(error)"])
        }
    }

    func end() { for query in queries { query.end() } }
}

/// One look at what changed, in one read.
private struct LiveEvaluation {
    let db: Database
    let queries: [LiveQuery]
    let transfers: [ItemID: ItemState]
    var reader: ItemReader

    init(db: Database, root: Int64, queries: [LiveQuery], transfers: [ItemID: ItemState]) {
        self.db = db
        self.queries = queries
        self.transfers = transfers
        reader = ItemReader(root: root)
    }

    mutating func consider(_ changes: ItemChanges) throws {
        try changes.items.forEach { try consider($0, of: queries) }
        guard !changes.movedNames.isEmpty else { return }
        for query in queries {
            for (id, result) in query.results where result.path.hasComponent(of: changes.movedNames) {
                try consider(id, of: [query])
            }
        }
        let placed = queries.filter(\.asksForPlaces)
        if !placed.isEmpty { try considerBelow(changes.movedDirectories, of: placed) }
    }

    private mutating func consider(_ id: Int64, of queries: [LiveQuery]) throws {
        let item = try reader.item(id, db).map { LiveItem($0, transfers: transfers) }
        for query in queries { query.consider(id, item) }
    }

    /// What lies below directories that moved may have come into a query's directory.
    private mutating func considerBelow(_ directories: Set<Int64>, of queries: [LiveQuery]) throws {
        var stack = Array(directories)
        while let directory = stack.popLast() {
            let children = try db.all("SELECT id, kind FROM items WHERE parent = ?", .integer(directory)) {
                ($0.integer(0), FileKind(code: $0.integer(1)))
            }
            for (id, kind) in children {
                try consider(id, of: queries)
                if kind == .directory { stack.append(id) }
            }
        }
    }
}

extension RelativePath {
    /// Whether a directory above has one of the names.
    fileprivate func hasComponent(of names: Set<[UInt8]>) -> Bool {
        names.contains { name in components.dropLast().contains { $0.bytes == name } }
    }
}
