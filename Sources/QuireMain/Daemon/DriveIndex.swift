import Logging
import QuireCore
import QuireIndex
import QuireStore
import QuireSync

/// The metadata index in the words of the sync engine and of the command line.
struct DriveIndex: Sendable {
    let index: MetadataIndex
    let tree: DriveTree
    let logger: Logger

    /// As the sync engine sees it.
    var sync: IndexedDrive { IndexedDrive(index, tree: tree) }

    private func catalogEntry(_ item: IndexItem) -> CatalogEntry {
        CatalogEntry(
            path: item.path, id: item.id, kind: item.local.kind,
            size: item.local.kind == .directory ? 0 : item.local.size,
            mode: item.local.mode, mtime: item.local.mtime, ctime: item.local.ctime, inode: item.local.inode,
            container: item.container, base: item.base, isDataless: item.local.isDataless,
            isPending: !item.difference.isEmpty, isPinned: item.isPinned, tags: item.tags, state: item.state,
            error: item.parked?.message, errorSince: item.parked?.since, type: item.type,
            created: item.created, added: item.added, generation: item.generation)
    }
}

extension DriveIndex: StoreEventSink {
    func record(_ event: StoreEvent) { index.record(event) }
}

extension DriveIndex {
    /// Returns when every event recorded before the call is committed, or cannot be for now.
    func settle() async {
        do {
            try await index.settle()
        } catch {
            // Kept in memory and retried by the index; what follows works with what is committed.
            logger.warning("the index cannot commit", metadata: ["error": "\(error)"])
        }
    }
}

extension DriveIndex: DriveCatalog {
    func reading<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        try await index.reading(body)
    }

    func waitUntilWhole() async throws { try await index.waitUntilWhole() }

    func entry(at path: RelativePath) async throws -> CatalogEntry? { try await index.item(at: path).map(catalogEntry) }

    func entries(below directory: RelativePath) async throws -> [CatalogEntry] {
        try await index.find(ItemQuery(under: directory)).map(catalogEntry)
    }

    func search(_ query: ItemQuery, first: Int) async throws -> (ids: [ItemID], first: [CatalogEntry]) {
        let found = try await index.search(query, first: first)
        return (found.ids, found.first.map(catalogEntry))
    }

    func paths(_ query: ItemQuery, _ body: ([RelativePath]) async throws -> Void) async throws -> Int {
        try await index.paths(query, body)
    }

    func entries(_ ids: ArraySlice<ItemID>, matching query: ItemQuery?) async throws -> [CatalogEntry] {
        try await index.items(ids, matching: query).map(catalogEntry)
    }

    func count(_ query: ItemQuery) async throws -> Int { try await index.count(query) }

    func children(of directory: RelativePath) async throws -> [CatalogEntry] {
        try await index.children(of: directory).map(catalogEntry)
    }

    func conflictCopies() async throws -> [RelativePath] { try await sync.conflictCopies() }
    func setPinned(_ item: ItemID, _ isPinned: Bool) async throws { _ = try await index.setPinned(item, isPinned) }
    func count() async throws -> Int { try await index.counts().items }
    func setTags(_ item: ItemID, _ tags: [String]) async throws { _ = try await index.setTags(item, tags) }
    func changeTags(_ item: ItemID, adding: [String], removing: [String]) async throws -> [String]? {
        try await index.changeTags(item, adding: adding, removing: removing)
    }
    func mayHaveTags(inode: UInt64) -> Bool { index.mayHaveTags(inode: inode) }
}

extension QuireError {
    /// The index's errors, as a person meets them.
    init(_ error: IndexError) {
        let code: Code =
            switch error.code {
            case .newerSchema, .storeMissing, .noSpace, .closed: .unavailable
            case .corrupt: .temporary
            case .failed: .failed
            }
        self.init(code, error.description)
    }
}
