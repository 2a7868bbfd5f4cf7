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

    /// The ids of what matches, in the query's order: little of much, to be read by parts (`items(_:matching:)`).
    package func search(_ query: ItemQuery) async throws(IndexError) -> [ItemID] {
        let root = root
        return try await read("a query") { db in
            var search = ItemSearch(query, root: root)
            return try search.run(db).map { ItemID($0) }
        }
    }

    /// Those of the items that are there and match still, in this order.
    package func items(_ ids: some Collection<ItemID> & Sendable, matching query: ItemQuery) async throws(IndexError)
        -> [IndexItem]
    {
        let root = root
        return try await read("results") { db in
            var search = ItemSearch(query, root: root)
            return try search.items(ids.map(\.rawValue), db).filter(query.matches)
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
