extension MetadataIndex {
    /// Returns when the content of every file that was committed and whose name says nothing was looked at; a file that is open
    /// for writing, or is another by now, is waited for.
    package func typesNoted() async throws(IndexError) {
        try await whenEmpty("SELECT id FROM items WHERE type = \(TypeCode.unseen) LIMIT 1")
    }
}
