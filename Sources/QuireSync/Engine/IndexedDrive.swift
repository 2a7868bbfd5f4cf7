package import QuireCore
package import QuireIndex
package import QuireStore

/// The metadata index as the engine sees it.
package struct IndexedDrive: SyncIndex {
    private let index: MetadataIndex
    private let tree: DriveTree

    /// - Parameter tree: the store, whose placeholders say what they stand for where the index does not know.
    package init(_ index: MetadataIndex, tree: DriveTree) {
        self.index = index
        self.tree = tree
    }

    package func record(_ event: StoreEvent) { index.record(event) }
    package func settle() async throws { try await index.settle() }
    package func writeSoon() { index.writeSoon() }
    package func commits() -> AsyncStream<Void> { index.changes() }

    package var doubt: String? {
        if index.rebuild != nil { return "the index was damaged, and is being built anew" }
        if index.rescanProgress.isActive { return "the store is being compared with the index" }
        return index.failure.map { "the index is behind: \($0)" }
    }

    package func tree<Entry: Sendable>(
        _ container: ContainerID, root: RelativePath, _ make: @escaping @Sendable (TreeBase) -> Entry?
    ) async throws -> [Entry] {
        try await index.baseTree(container: container) { make(TreeBase($0, $1, root: root)) }
    }

    package func tree(
        _ container: ContainerID, root: RelativePath, for changes: BaseScope
    ) async throws -> [TreeBase] {
        try await index.baseTree(container: container, for: changes) { TreeBase($0, $1, root: root) }
    }

    package func baseCount(_ container: ContainerID) async throws -> Int {
        try await index.baseCount(container: container)
    }

    package func pending(_ container: ContainerID, _ request: PendingRequest) async throws -> PendingPart {
        let page = try await index.pendingPage(container: container, request)
        return PendingPart(
            changes: page.items.map { PendingChange($0) }, asked: page.asked,
            needs: page.items.map { $0.isIncomplete ? nil : $0.needs }, directories: page.directories,
            skipped: page.skipped, next: page.next, nextChange: page.nextChange,
            nextDeletion: page.nextDeletion)
    }

    package func baseNames(_ container: ContainerID, in directory: RelativePath) async throws -> [BaseName] {
        try await index.baseNames(container, in: directory)
    }

    package func pendingTotals(_ container: ContainerID) async throws -> PendingTotals {
        try await index.pendingTotals(container: container)
    }
    package func awaitingDeletions(_ container: ContainerID, limit: Int) async throws -> [RelativePath] {
        try await index.awaitingDeletes(container: container, limit: limit)
    }

    package func pendingBytes(_ container: ContainerID) async throws -> Int64 {
        try await index.pendingBytes(container: container)
    }

    package func pending(of subjects: [ParkedSubject], in container: ContainerID) async throws -> Set<ParkedSubject> {
        try await index.pending(of: subjects, container: container)
    }

    package func item(drivePath: RelativePath) async throws -> IndexedItem? {
        try await index.item(at: drivePath).map { marked(IndexedItem($0)) }
    }

    package func items(drivePaths: [RelativePath]) async throws -> [IndexedItem] {
        try await index.items(at: drivePaths).map { marked(IndexedItem($0)) }
    }

    /// With what a placeholder says that it stands for, where the index knows nothing of that.
    private func marked(_ item: IndexedItem) -> IndexedItem {
        guard item.base == nil, case .dataless = item.entry.content else { return item }
        var item = item
        if let mark = mark(item.drivePath) {
            item.entry.content = .dataless(mark.container == item.container ? .version(mark.version) : .elsewhere)
        }
        return item
    }

    /// What a placeholder says of itself; a local read of one attribute.
    private func mark(_ path: RelativePath) -> Placeholder? {
        // Gone or changed meanwhile: then its event is on the way.
        guard case .placeholder(let placeholder)? = try? Placeholder.mark(at: path, in: tree) else { return nil }
        return placeholder
    }

    package func item(_ id: ItemID) async throws -> IndexedItem? { try await index.item(id).map { IndexedItem($0) } }

    package func items(_ ids: [ItemID]) async throws -> [IndexedItem] {
        try await index.items(ids, matching: nil).map { IndexedItem($0) }
    }

    package func files<Entry: Sendable>(
        below drivePath: RelativePath, _ make: @Sendable (IndexedItem) -> Entry?
    ) async throws -> [Entry] {
        var ids = try await index.search(ItemQuery(under: drivePath), first: 0).ids[...]
        if let item = try await index.item(at: drivePath) { ids.append(item.id) }
        var found: [Entry] = []
        while !ids.isEmpty {
            let items = try await items(Array(ids.prefix(Self.itemsAtOnce)))
            ids = ids.dropFirst(Self.itemsAtOnce)
            found += items.lazy.filter { $0.entry.facts.kind == .file }.compactMap(make)
        }
        return found
    }

    private static let itemsAtOnce = 1000

    package func isRescanned(drivePath: RelativePath) async throws -> Bool { try await index.isRescanned(drivePath) }
    package func unreadPlaces() -> [UnreadPlace] { index.unreadPlaces }
    package func rescanFinished() async { _ = await index.rescanFinished() }
    package func heldDeletions() async throws -> Int { try await index.heldDeletes() }
    package func heldDeletions(naming limit: Int) async throws -> [HeldDeletes] {
        try await index.heldDeletes(naming: limit)
    }
    package func confirmDeletions() async throws -> Int { try await index.confirmDeletes(marks: marks()) }

    package func strandedPlaceholders() async throws -> [StrandedPlaceholder] {
        try await index.strandedPlaceholders(marks: marks())
    }

    /// What placeholders that stand for nothing known say of themselves; none are asked while no deletion is held.
    private func marks() async throws -> [ItemID: Placeholder] {
        try await index.baselessPlaceholders().compactMapValues { mark($0) }
    }

    package func park(_ subject: ParkedSubject, message: String, until: ParkedUntil) async throws {
        try await index.park(subject, message: message, code: until.rawValue)
    }

    package func unpark(_ subject: ParkedSubject) async throws { try await index.unpark(subject) }

    package func parked(_ container: ContainerID) async throws -> [ParkedChange] {
        try await index.parkedErrors().filter { $0.container == container }.map {
            ParkedChange(subject: $0.subject, path: $0.path, message: $0.error.message, since: $0.error.since)
        }
    }

    package func unansweredUploads(_ container: ContainerID) async throws -> [UnansweredUpload] {
        try await index.unansweredUploads(container)
    }

    package func forget(_ upload: UnansweredUpload) async throws { try await index.forget(upload) }

    package func spaceUse() async throws -> SpaceUse { try await index.spaceUse() }
    package func uncountedFiles(after id: ItemID?, limit: Int) async throws -> [IndexedItem] {
        try await index.uncountedFiles(after: id, limit: limit).map { IndexedItem($0) }
    }
    package func evictableFiles(after id: ItemID?, limit: Int) async throws -> [EvictableFile] {
        try await index.evictableFiles(after: id, limit: limit)
    }
    package func datalessToBring(after id: ItemID?, limit: Int, isLocalOnly: Bool) async throws -> [IndexedItem] {
        try await index.datalessToBring(after: id, limit: limit, isLocalOnly: isLocalOnly).map { IndexedItem($0) }
    }

    package func evictableBytes(_ container: ContainerID, of versions: Set<ProviderVersion>?) async throws -> Int64 {
        try await index.evictableBytes(container, of: versions)
    }

    package func setPinned(_ id: ItemID, _ isPinned: Bool) async throws { try await index.setPinned(id, isPinned) }
    package func value(_ key: String) async throws -> String? { try await index.value(key) }
    package func setValue(_ key: String, _ value: String?, durably: Bool) async throws {
        try await index.setValue(key, value, durably: durably)
    }

    package func conflictCopies() async throws -> [RelativePath] { try await index.conflictCopies() }
}

extension TreeBase {
    /// - Parameter item: none of the container's where it was moved into another's directory.
    fileprivate init(_ base: BaseRecord, _ item: IndexItem?, root: RelativePath) {
        let item = item.flatMap { $0.container == base.container ? $0 : nil }
        self.init(
            record: base,
            local: item.flatMap { item in item.path.removing(ancestor: root).map { LocalEntry(item, path: $0) } })
    }
}

extension PendingChange {
    fileprivate init(_ item: PendingItem) {
        var local: LocalEntry?
        if let id = item.id, let path = item.path, let record = item.local {
            local = LocalEntry(id, path, record, item.tags, contentDirty: item.isContentDirty || item.isCreated)
        }
        self.init(
            local: local, base: item.base, isMoved: item.isMoved, attributesChanged: item.isMetadataDirty,
            since: item.since)
    }
}

extension LocalEntry {
    fileprivate init(
        _ id: ItemID, _ path: RelativePath, _ record: LocalRecord, _ tags: [String], contentDirty: Bool,
        isLocalOnly: Bool = false
    ) {
        let facts = ItemFacts(
            kind: record.kind, size: record.kind == .file ? record.size : 0, mtime: record.mtime,
            mode: record.mode & 0o777, tags: tags)
        self.init(
            id: id, path: path, content: record.isDataless ? .dataless(.unknown) : contentDirty ? .changed : .asBase,
            facts: facts, fingerprint: record.fingerprint, isLocalOnly: isLocalOnly)
    }

    fileprivate init(_ item: IndexItem, path: RelativePath) {
        let dirty = !item.difference.isDisjoint(with: [.content, .created]) || item.base == nil
        self.init(item.id, path, item.local, item.tags, contentDirty: dirty, isLocalOnly: item.isLocalOnly)
    }
}

extension IndexedItem {
    fileprivate init(_ item: IndexItem) {
        self.init(
            entry: LocalEntry(item, path: item.path), container: item.container, drivePath: item.path, base: item.base,
            isPinned: item.isPinned, isMoved: item.difference.contains(.moved), since: item.since)
    }
}
