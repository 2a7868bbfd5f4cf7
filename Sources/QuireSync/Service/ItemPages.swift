import QuireCore

/// Hands out items one by one, each as the index had it a moment ago; few of many are in memory at one time.
actor ItemPages {
    private let index: any SyncIndex
    private var ids: ArraySlice<ItemID>
    private var page: ArraySlice<IndexedItem> = []

    private static let length = 100

    init(_ ids: [ItemID], _ index: any SyncIndex) {
        self.ids = ids[...]
        self.index = index
    }

    /// The next that is still there; nil after the last.
    ///
    /// - Throws: the index's own errors.
    func next() async throws -> IndexedItem? {
        while page.isEmpty, !ids.isEmpty {
            let some = Array(ids.prefix(Self.length))
            ids = ids.dropFirst(Self.length)
            // Others may have come in meanwhile.
            page += try await index.items(some)
        }
        return page.popFirst()
    }
}
