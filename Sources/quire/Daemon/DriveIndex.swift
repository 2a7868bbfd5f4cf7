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

    /// Below its container's root: the root of every container but the default one is a top-level directory.
    private static func containerPath(_ path: RelativePath, _ container: ContainerID) -> RelativePath {
        container == .default ? path : RelativePath(path.components.dropFirst())
    }

    private func entry(
        _ id: ItemID, path: RelativePath, drivePath: RelativePath, _ local: LocalRecord, base: BaseRecord?,
        _ difference: LocalDifference, isLocalOnly: Bool
    ) -> LocalEntry {
        let content: LocalState.Content =
            if local.isDataless {
                .dataless(base?.version ?? markedVersion(drivePath))
            } else if base != nil, local.kind == .directory || !difference.contains(.content) {
                .asBase
            } else {
                .changed
            }
        return LocalEntry(
            id: id, path: path, content: content,
            facts: ItemFacts(
                kind: local.kind, size: local.kind == .file ? local.size : 0, mtime: local.mtime, mode: local.mode),
            fingerprint: local.fingerprint, isLocalOnly: isLocalOnly)
    }

    private func entry(_ item: IndexItem) -> LocalEntry {
        entry(
            item.id, path: Self.containerPath(item.path, item.container), drivePath: item.path, item.local,
            base: item.base, item.difference, isLocalOnly: item.isLocalOnly)
    }

    /// What a placeholder says of itself where the index was rebuilt and knows no base: a local read of one attribute.
    private func markedVersion(_ path: RelativePath) -> ProviderVersion? {
        // Gone or changed meanwhile: then its event is on the way.
        guard case .placeholder(let placeholder)? = try? Placeholder.mark(at: path, in: tree) else { return nil }
        return placeholder.version
    }

    private func indexed(_ item: IndexItem) -> IndexedItem {
        IndexedItem(
            entry: entry(item), container: item.container, drivePath: item.path, base: item.base,
            isPinned: item.isPinned)
    }

    private func catalogEntry(_ item: IndexItem) -> CatalogEntry {
        CatalogEntry(
            path: item.path, id: item.id, kind: item.local.kind, size: item.local.kind == .directory ? 0 : item.local.size,
            mode: item.local.mode, mtime: item.local.mtime, ctime: item.local.ctime, inode: item.local.inode,
            container: item.container, base: item.base, isDataless: item.local.isDataless,
            isPending: !item.difference.isEmpty, isPinned: item.isPinned, tags: item.tags, state: item.state,
            error: item.parked?.message, errorSince: item.parked?.since)
    }
}

extension DriveIndex: SyncIndex {
    func record(_ event: StoreEvent) { index.record(event) }

    func settle() async {
        do {
            try await index.settle()
        } catch {
            // Kept in memory and retried by the index; what follows works with what is committed.
            logger.warning("the index cannot commit", metadata: ["error": "\(error)"])
        }
    }

    func commits() -> AsyncStream<Void> { index.changes() }

    func tree(_ container: ContainerID) async throws -> [TreeBase] {
        try await index.baseTree(container: container).map { TreeBase(record: $0.base, local: $0.item.map(entry)) }
    }

    func pending(_ container: ContainerID) async throws -> [PendingChange] {
        let root = container == .default ? RelativePath.root : try await rootPath(of: container)
        return try await index.pendingItems(container: container).map { item in
            var local: LocalEntry?
            if let id = item.id, let path = item.path, let record = item.local {
                local = entry(
                    id, path: path, drivePath: root.appending(path), record, base: item.base, item.difference,
                    isLocalOnly: false)
            }
            return PendingChange(
                local: local, base: item.base, isMoved: item.isMoved, attributesChanged: item.isMetadataDirty,
                since: item.since)
        }
    }

    private func rootPath(of container: ContainerID) async throws -> RelativePath {
        let roots = try await index.children(of: .root).first { $0.isContainerRoot && $0.container == container }
        return roots?.path ?? .root
    }

    func item(drivePath: RelativePath) async throws -> IndexedItem? {
        try await index.item(at: drivePath).map(indexed)
    }

    func item(_ id: ItemID) async throws -> IndexedItem? { try await index.item(id).map(indexed) }

    func files(below drivePath: RelativePath) async throws -> [IndexedItem] {
        guard let top = try await index.item(at: drivePath) else { return [] }
        guard top.local.kind == .directory else { return top.local.kind == .file ? [indexed(top)] : [] }
        return try await index.find(ItemQuery(under: drivePath)).filter { $0.local.kind == .file }.map(indexed)
    }

    func isRescanned(drivePath: RelativePath) async -> Bool {
        // Unknown counts as not yet: nothing is applied there until it is known.
        (try? await index.isRescanned(drivePath)) ?? false
    }

    func rescanFinished() async { _ = await index.rescanFinished() }

    var holdsDeletions: Bool {
        // Unknown counts as held: nothing is deleted until it is known.
        get async { ((try? await index.heldDeletes()) ?? 1) > 0 }
    }

    func confirmDeletions() async throws { try await index.confirmDeletes() }

    func park(_ subject: QuireSync.ParkedSubject, message: String, until: ParkedUntil) async throws {
        try await index.park(Self.subject(subject), message: message, code: until.rawValue)
    }

    func unpark(_ subject: QuireSync.ParkedSubject) async throws { try await index.unpark(Self.subject(subject)) }

    func parked(_ container: ContainerID) async throws -> [ParkedChange] {
        try await index.parkedErrors().filter { $0.container == container }.map { entry in
            ParkedChange(
                subject: Self.subject(entry.subject), path: entry.path, message: entry.error.message,
                since: entry.error.since)
        }
    }

    func setPinned(_ id: ItemID, _ isPinned: Bool) async throws { _ = try await index.setPinned(id, isPinned) }
    func value(_ key: String) async throws -> String? { try await index.value(key) }
    func setValue(_ key: String, _ value: String?) async throws { try await index.setValue(key, value) }

    func conflictCopies() async throws -> [RelativePath] {
        guard try await index.counts().conflicts > 0 else { return [] }
        let named = try await index.find(ItemQuery(nameGlob: Glob("* (conflicted copy *")))
        return named.map(\.path).filter { $0.name.flatMap { ConflictName($0) } != nil }
    }

    private static func subject(_ subject: QuireSync.ParkedSubject) -> QuireIndex.ParkedSubject {
        switch subject {
        case .item(let id): .item(id)
        case .base(let container, let path): .base(container, path)
        }
    }

    private static func subject(_ subject: QuireIndex.ParkedSubject) -> QuireSync.ParkedSubject {
        switch subject {
        case .item(let id): .item(id)
        case .base(let container, let path): .base(container, path)
        }
    }
}

extension DriveIndex: DriveCatalog {
    func entry(at path: RelativePath) async throws -> CatalogEntry? { try await index.item(at: path).map(catalogEntry) }

    func entries(below directory: RelativePath, name: Glob?) async throws -> [CatalogEntry] {
        try await index.find(ItemQuery(nameGlob: name, under: directory)).map(catalogEntry)
    }

    func children(of directory: RelativePath) async throws -> [CatalogEntry] {
        try await index.children(of: directory).map(catalogEntry)
    }

    func count() async throws -> Int { try await index.counts().items }
    func setTags(_ item: ItemID, _ tags: [String]) async throws { _ = try await index.setTags(item, tags) }
}

extension QuireError {
    /// The index's errors, as a person meets them.
    init(_ error: IndexError) {
        let code: Code =
            switch error.code {
            case .newerSchema, .storeMissing, .noSpace, .closed: .unavailable
            case .corrupt, .failed: .failed
            }
        self.init(code, error.description)
    }
}
