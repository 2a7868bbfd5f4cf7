import GRDB
package import Logging
package import QuireCore
import Synchronization

/// The running queries of an index. A change is tested against each of them; none is run again.
///
/// One task does all work in order: a query is started between two changes, so that it misses none and hears of none twice.
package final class LiveQueries: Sendable {
    private enum Work: Sendable {
        case start(LiveQuery, CheckedContinuation<Result<[ItemID], IndexError>, Never>)
        case stop(LiveQuery)
        case restart
        case changed(ItemChanges)
        case mark(CheckedContinuation<Void, Never>)
    }

    private let index: MetadataIndex
    private let transfers: @Sendable () -> [ItemID: ItemState]
    private let logger: Logger
    private let work: AsyncStream<Work>.Continuation
    private let task: Task<Void, Never>
    private let isUsed = UseMark()

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
        task = Task { [isUsed] in
            for await piece in stream {
                switch piece {
                case .start(let query, let continuation):
                    isUsed.flag.store(true, ordering: .releasing)
                    continuation.resume(returning: await worker.start(query))
                case .stop(let query): await worker.stop(query)
                case .restart: await worker.restart()
                case .changed(let changes): await worker.changed(changes)
                case .mark(let continuation): continuation.resume()
                }
                isUsed.flag.store(!worker.isIdle, ordering: .releasing)
            }
            worker.end()
        }
    }

    deinit { work.finish() }

    /// Starts a query; `stop` ends it.
    ///
    /// While the index is built anew, it waits; also where it is this query that meets the damage.
    ///
    /// - Returns: the query, and the ids of what it finds now, in its order. From there on it tells each change once.
    package func start(_ query: ItemQuery) async throws(IndexError) -> (LiveQuery, [ItemID]) {
        for _ in 1..<Self.attempts {
            do throws(IndexError) { return try await startOnce(query) } catch {
                guard error.code == .corrupt || error.isOfReading else { throw error }
            }
        }
        return try await startOnce(query)
    }

    /// Damage that is met twice is either new, or none of the file's.
    private static let attempts = 3

    private func startOnce(_ query: ItemQuery) async throws(IndexError) -> (LiveQuery, [ItemID]) {
        try await index.waitUntilWhole()
        let live = LiveQuery(query)
        let found = await withCheckedContinuation { work.yield(.start(live, $0)) }
        return (live, try found.get())
    }

    /// Returns when every change that was committed before the call can be taken from the queries.
    package func settle() async { await withCheckedContinuation { _ = work.yield(.mark($0)) } }

    package func stop(_ query: LiveQuery) { work.yield(.stop(query)) }

    /// Ends all queries as outdated: the index was set aside, and its items have other ids in the new one.
    package func restart() { work.yield(.restart) }

    /// The sync engine begins or ends something with the item.
    package func noteTransfer(of item: ItemID) {
        // A query that starts afterwards asks for the transfers by itself.
        guard isUsed.flag.load(ordering: .acquiring) else { return }
        work.yield(.changed(ItemChanges(items: [item.rawValue])))
    }
}

/// Whether a query runs or is about to.
private final class UseMark: Sendable {
    let flag = Atomic(false)
}

/// What `LiveQueries` does, in its one task.
private struct LiveWorker {
    let index: MetadataIndex
    let transfers: @Sendable () -> [ItemID: ItemState]
    let logger: Logger
    let hear: @Sendable (ItemChanges) -> Void
    private var queries: [LiveQuery] = []
    var isIdle: Bool { queries.isEmpty }
    /// Of the index, when the first of the queries began.
    private var generation = 0

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
        // Before `LiveQueries.restart` was called.
        if generation != index.generation { await restart() }
        do throws(IndexError) {
            if queries.isEmpty {
                generation = index.generation
                try await index.collectChanges(hear)
            }
            queries.append(live)
            try await index.settle()
            let transfers = transfers()
            return .success(
                try await index.read("a live query") { [index, generation] db in
                    guard index.generation == generation else { throw IndexError.damaged(cause: nil) }
                    var query = live.query
                    query.transfers = transfers
                    var search = try ItemSearch(query, root: index.root, index.trigrams, db)
                    let ids = try search.run(db).map(\.id)
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
            try await index.read("a change") { [index, generation] db in
                // Of a file that was set aside: the queries end.
                guard index.generation == generation else { return }
                var evaluation = LiveEvaluation(db: db, root: root, queries: queries, transfers: transfers)
                try evaluation.consider(changes)
            }
        } catch {
            guard error.code != .closed else { return }
            // Told late is better than never: whoever asks next sees it. After damage all are asked anew.
            logger.log(
                level: error.code == .corrupt ? .info : .error, "live queries missed a change",
                metadata: ["error": "\(error)"])
        }
    }

    /// See `LiveQueries.restart`.
    mutating func restart() async {
        for query in queries { query.end(isOutdated: true) }
        guard let last = queries.last else { return }
        queries = [last]
        await stop(last)
    }

    func end() { for query in queries { query.end() } }
}

/// One look at what changed, in one read.
private struct LiveEvaluation {
    let db: Database
    let queries: [LiveQuery]
    let transfers: [ItemID: ItemState]
    let words: ContentWords
    var reader: ItemReader

    init(db: Database, root: Int64, queries: [LiveQuery], transfers: [ItemID: ItemState]) {
        self.db = db
        self.queries = queries
        self.transfers = transfers
        words = ContentWords(Array(Set(queries.flatMap(\.wordPatterns))))
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
        let item = try reader.item(id, db).map {
            LiveItem($0, transfers: transfers, words: try words.fulfilled(by: id, db))
        }
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
