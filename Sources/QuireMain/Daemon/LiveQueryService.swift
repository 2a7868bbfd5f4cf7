import QuireCore
import QuireIndex
import QuireTransport

/// Queries that keep running, for clients of the control socket.
struct LiveQueryService: Sendable {
    let view: DriveView
    let index: DriveIndex
    let queries: LiveQueries

    /// How many items one message has.
    private static let page = 200

    func addMethods(to methods: inout MethodTable) {
        methods.on(QueryMethods.Live.self, lane: .queries) { parameters, context in
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
            let items = try await records(ids)
            for id in ids where items[id] == nil { query.wasGone(id) }
            await context.sendPartial(QueryMethods.Update(added: ids.compactMap { items[$0] }))
        }
        await context.sendPartial(QueryMethods.Update(gathered: found.count))
        let batching = Duration.milliseconds(max(0, parameters.batchingMilliseconds))
        for await _ in query.signals {
            // The caller's wish: what comes meanwhile is told together.
            if batching > .zero { try await Task.sleep(for: batching) }
            try await tell(query, context)
        }
        guard !query.isOutdated else {
            throw QuireError(
                .temporary, "the index was damaged and is built anew: what was found so far may be others by now",
                remedy: "Ask again; the answer comes when the index is whole")
        }
        try Task.checkCancellation()
    }

    /// The items that are there.
    private func records(_ ids: [ItemID]) async throws -> [ItemID: QueryMethods.ItemRecord] {
        let entries = try await index.entries(ids[...], matching: nil)
        return Dictionary(entries.map { ($0.id, view.record($0)) }, uniquingKeysWith: { first, _ in first })
    }

    private func tell(_ query: LiveQuery, _ context: CallContext) async throws {
        let changes = query.take().sorted { $0.key.rawValue < $1.key.rawValue }
        for start in stride(from: 0, to: changes.count, by: Self.page) {
            let part = changes[start..<min(start + Self.page, changes.count)]
            let items = try await records(part.map(\.key))
            var update = QueryMethods.Update()
            for (id, change) in part {
                switch (change, items[id]) {
                case (.removed(let from), _):
                    update.removed = (update.removed ?? []) + [.init(id: id, path: WirePath(from))]
                case (.added, let item?): update.added = (update.added ?? []) + [item]
                case (.added, nil): query.wasGone(id)
                case (.changed(let from), let item?):
                    update.changed = (update.changed ?? []) + [.init(item: item, from: WirePath(from))]
                // That it went is told next.
                case (.changed, nil): break
                }
            }
            await context.sendPartial(update)
        }
    }
}
