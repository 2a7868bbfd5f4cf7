import GRDB
package import QuireCore

extension MetadataIndex {
    /// What matches, in the query's order.
    package func find(_ query: ItemQuery) async throws(IndexError) -> [IndexItem] {
        try await read("a query") { [root, trigrams] db in
            var search = try ItemSearch(query, root: root, trigrams, db)
            return try search.items(search.run(db).map(\.id), db)
        }
    }

    /// The ids of what matches, in the query's order, and the first items of it; the others are to be read by parts
    /// (`items(_:matching:)`), so that much takes little memory.
    package func search(_ query: ItemQuery, first: Int) async throws(IndexError) -> (ids: [ItemID], first: [IndexItem])
    {
        try await read("a query") { [root, trigrams] db in
            var search = try ItemSearch(query, root: root, trigrams, db)
            let ids = try search.run(db).map(\.id)
            return (ids.map { ItemID($0) }, try search.items(Array(ids.prefix(first)), db))
        }
    }

    /// Tells the paths of what matches, in the query's order, by parts.
    ///
    /// - Returns: how many those were.
    package func paths(
        _ query: ItemQuery, _ body: ([RelativePath]) async throws -> Void
    ) async throws -> Int {
        // The first of them in the read that finds them: mostly there are no others.
        let (found, first) = try await read("a query") { [root, trigrams] db in
            var search = try ItemSearch(query, root: root, trigrams, db)
            let found = try search.run(db)
            return (found, try search.paths(found.prefix(Self.pathsAtOnce), db))
        }
        var count = first.count
        if !first.isEmpty { try await body(first) }
        for start in stride(from: Self.pathsAtOnce, to: found.count, by: Self.pathsAtOnce) {
            let part = found[start..<min(start + Self.pathsAtOnce, found.count)]
            let paths = try await read("results") { [root] db in
                var paths = PathBuilder.items(root: root)
                return try part.compactMap { try $0.path ?? paths.path($0.id, db) }
            }
            count += paths.count
            try await body(paths)
        }
        return count
    }

    private static let pathsAtOnce = 10_000

    /// Those of the items that are there, and match the query still, in this order.
    package func items(_ ids: some Collection<ItemID> & Sendable, matching query: ItemQuery?) async throws(IndexError)
        -> [IndexItem]
    {
        let root = root
        return try await read("results") { db in
            var reader = ItemReader(root: root)
            let items = try reader.items(ids.lazy.map(\.rawValue), db)
            guard let query else { return items }
            let words = ContentWords(query.predicate?.wordPatterns ?? [])
            return try items.filter { query.matches($0, words: try words.fulfilled(by: $0.id.rawValue, db)) }
        }
    }

    /// How many match.
    package func count(_ query: ItemQuery) async throws(IndexError) -> Int {
        try await read("a query") { [root, trigrams] db in
            var search = try ItemSearch(query, root: root, trigrams, db)
            return try search.count(db)
        }
    }
}

extension MetadataIndex {
    /// Returns when every name that was committed can be found by its parts without looking at it.
    package func namesIndexed() async throws(IndexError) {
        try await whenEmpty("SELECT id FROM name_queue LIMIT 1")
    }

    /// Returns when a statement finds nothing any more.
    func whenEmpty(_ sql: String) async throws(IndexError) {
        let changes = changes()
        if try await isEmpty(sql) { return }
        for await _ in changes {
            if try await isEmpty(sql) { return }
        }
    }

    private func isEmpty(_ sql: String) async throws(IndexError) -> Bool {
        try await read("what waits") { db in try db.first(sql, read: { $0.integer(0) }) == nil }
    }
}
