import GRDB
package import QuireCore

extension MetadataIndex {
    /// What matches, in the query's order.
    package func find(_ query: ItemQuery) async throws(IndexError) -> [IndexItem] {
        let root = root
        return try await read("a query") { db in
            var search = ItemSearch(query, root: root)
            return try search.items(search.run(db), db)
        }
    }

    /// The ids of what matches, in the query's order, and the first items of it; the others are to be read by parts
    /// (`items(_:matching:)`), so that much takes little memory.
    package func search(_ query: ItemQuery, first: Int) async throws(IndexError) -> (ids: [ItemID], first: [IndexItem])
    {
        let root = root
        return try await read("a query") { db in
            var search = ItemSearch(query, root: root)
            let ids = try search.run(db)
            return (ids.map { ItemID($0) }, try search.items(Array(ids.prefix(first)), db))
        }
    }

    /// Those of the items that are there, and match the query still, in this order.
    package func items(_ ids: some Collection<ItemID> & Sendable, matching query: ItemQuery?) async throws(IndexError)
        -> [IndexItem]
    {
        let root = root
        return try await read("results") { db in
            var search = ItemSearch(query ?? ItemQuery(), root: root)
            let items = try search.items(ids.map(\.rawValue), db)
            return query.map { query in items.filter { query.matches($0) } } ?? items
        }
    }

    /// How many match.
    package func count(_ query: ItemQuery) async throws(IndexError) -> Int {
        let root = root
        return try await read("a query") { db in
            var search = ItemSearch(query, root: root)
            return try search.count(db)
        }
    }
}

extension MetadataIndex {
    /// Returns when every name that was committed can be found by its parts without looking at it.
    package func namesIndexed() async throws(IndexError) {
        let changes = changes()
        if try await areNamesIndexed() { return }
        for await _ in changes {
            if try await areNamesIndexed() { return }
        }
    }

    private func areNamesIndexed() async throws(IndexError) -> Bool {
        try await read("names") { db in
            try db.first("SELECT id FROM name_queue LIMIT 1", read: { $0.integer(0) }) == nil
        }
    }
}
