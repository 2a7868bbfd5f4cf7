import QuireCore
import QuireIndex

/// Queries that keep running, for clients of the control socket.
struct LiveQueryService: Sendable {
    let view: DriveView
    let index: DriveIndex
    let queries: LiveQueries

    /// How many items one message has.
    private static let page = 200

    func addMethods(to methods: inout MethodTable) {
        methods.on(QueryMethods.Live.self) { parameters, context in
            try await run(parameters, context)
            return WireNothing()
        }
    }

    private func run(_ parameters: QueryMethods.Live.Parameters, _ context: CallContext) async throws {
        let find = parameters.query
        guard find.order == nil, find.limit == nil, !find.countOnly else {
            throw QuireError(
                .usage, "a query that keeps running is not ordered, limited or counted",
                remedy: "Leave out order, limit and countOnly")
        }
        let (query, found) = try await queries.start(try await view.query(find))
        defer { queries.stop(query) }
        for start in stride(from: 0, to: found.count, by: Self.page) {
            let ids = Array(found[start..<min(start + Self.page, found.count)])
            let items = try await records(ids, of: query)
            await context.sendPartial(QueryMethods.Update(added: ids.compactMap { items[$0] }))
        }
        await context.sendPartial(QueryMethods.Update(gathered: found.count))
        let batching = Duration.milliseconds(max(0, parameters.batchingMilliseconds))
        for await _ in query.signals {
            // The caller's wish: what comes meanwhile is told together.
            if batching > .zero { try await Task.sleep(for: batching) }
            try await tell(query, context)
        }
        try Task.checkCancellation()
    }

    /// The items that are there; the query hears of the others.
    private func records(_ ids: [ItemID], of query: LiveQuery) async throws -> [ItemID: QueryMethods.ItemRecord] {
        var found: [ItemID: QueryMethods.ItemRecord] = [:]
        for entry in try await index.entries(ids[...], matching: nil) { found[entry.id] = view.record(entry) }
        for id in ids where found[id] == nil { query.wasGone(id) }
        return found
    }

    private func tell(_ query: LiveQuery, _ context: CallContext) async throws {
        let changes = query.take().sorted { $0.key.rawValue < $1.key.rawValue }
        for start in stride(from: 0, to: changes.count, by: Self.page) {
            let part = changes[start..<min(start + Self.page, changes.count)]
            var update = QueryMethods.Update()
            let came = part.filter { $0.value == .added }.map(\.key)
            let added = try await records(came, of: query)
            if !added.isEmpty { update.added = came.compactMap { added[$0] } }
            let moved = part.compactMap { id, change in change.changedFrom.map { (id, $0) } }
            var changed: [ItemID: QueryMethods.ItemRecord] = [:]
            for entry in try await index.entries(moved.map(\.0)[...], matching: nil) {
                changed[entry.id] = view.record(entry)
            }
            let told = moved.compactMap { id, from in
                changed[id].map { QueryMethods.Change(item: $0, from: WirePath(from)) }
            }
            if !told.isEmpty { update.changed = told }
            let removed = part.compactMap { id, change in
                change.removedFrom.map { QueryMethods.Removal(id: id, path: WirePath($0)) }
            }
            if !removed.isEmpty { update.removed = removed }
            await context.sendPartial(update)
        }
    }
}

extension LiveChange {
    fileprivate var changedFrom: RelativePath? { if case .changed(let from) = self { from } else { nil } }
    fileprivate var removedFrom: RelativePath? { if case .removed(let from) = self { from } else { nil } }
}
