extension MetadataIndex {
    /// Returns when the content of every file that was committed and whose name says nothing was looked at; a file that is open
    /// for writing, or is another by now, is waited for.
    package func typesNoted() async throws(IndexError) {
        let changes = changes()
        if try await areTypesNoted() { return }
        for await _ in changes {
            if try await areTypesNoted() { return }
        }
    }

    private func areTypesNoted() async throws(IndexError) -> Bool {
        try await read("types") { db in
            try db.first("SELECT id FROM items WHERE type = -1 LIMIT 1", read: { $0.integer(0) }) == nil
        }
    }
}
