package import QuireCore
import Synchronization

/// Keeps documents in memory: the fake that the rest of Quire is tested with. Everything the contract asks for, and
/// the abilities of lesser providers by `capabilities`.
///
/// Versions count up with every change and are never used twice. Only reading snapshots and writing fetched files
/// touches the disk, on threads of its own.
package final class MemoryProvider: DocumentProvider {
    /// One call that reached the provider, for tests to look at.
    package enum Operation: Sendable, Hashable {
        case connect
        case changes
        case item(RelativePath)
        case fetch(RelativePath)
        case fetchPart(RelativePath, Range<Int64>)
        case put(RelativePath)
        case putSymlink(RelativePath)
        case createDirectory(RelativePath)
        case setAttributes(RelativePath)
        case move(RelativePath, to: RelativePath)
        case delete(RelativePath)
        case announce([AnnouncedChange]?)
        case freeSpace
        case thumbnails
        case thumbnail(String)
        case putThumbnail(String)
        case removeThumbnail(String)
    }

    package let capabilities: ProviderCapabilities
    /// Most bytes of content, nil for no limit.
    package let quota: ByteCount?
    /// Whether it answers with what changed, where it told everything before.
    private let keepsJournal: Bool
    private let pool = BlockingPool(label: "quire-memory", width: 4)
    /// Innermost lock: nothing else is taken while it is held.
    private let tree = Lock(MemoryTree())

    /// - Parameters:
    ///   - capabilities: what it shall be able to do; `full` for everything.
    ///   - quota: most bytes of content; `.noSpace` beyond.
    ///   - keepsJournal: whether it answers with what changed, where it told everything before.
    package init(
        capabilities: ProviderCapabilities = MemoryProvider.full, quota: ByteCount? = nil, keepsJournal: Bool = false
    ) {
        self.keepsJournal = keepsJournal
        self.capabilities = capabilities
        self.quota = quota
        tree.withLock { $0.folding = capabilities.folding }
    }

    /// Everything that a provider can do.
    package static let full = ProviderCapabilities(
        conditionalWrites: .atomic, stableIdentifiers: true, directoryMoves: true, symlinks: true, attributes: true,
        arbitraryNames: true)

    /// An object store's abilities: no identifiers, no moves of directories, no symlinks, no attributes, names in
    /// UTF-8.
    package static let plain = ProviderCapabilities(
        conditionalWrites: .atomic, stableIdentifiers: false, directoryMoves: false, symlinks: false, attributes: false,
        arbitraryNames: false)

    /// The calls so far, in the order in which they arrived.
    package var operations: [Operation] { tree.withLock { $0.operations } }

    /// Forgets the calls so far.
    package func clearOperations() { tree.withLock { $0.operations = [] } }

    /// Whether the storage is there; while it is not, every call throws `.unavailable`.
    package var isOnline: Bool {
        get { tree.withLock { $0.isOnline } }
        set { tree.withLock { $0.isOnline = newValue } }
    }

    /// Plays another client: changes the tree without conditions, missing parents included. Not in `operations`.
    package func edit(_ body: (inout MemoryTree) -> Void) { tree.withLock { body(&$0) } }

    /// All items, sorted by path. Not in `operations`.
    package var items: [RemoteItem] {
        tree.withLock { tree in
            tree.items(capabilities).sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
        }
    }

    /// The content of the file at `path`; nil where no file is. Not in `operations`.
    package func contents(at path: RelativePath) -> [UInt8]? { tree.withLock { $0.nodes[path]?.content } }

    package func connect(expected: String?) async throws(ProviderError) -> String {
        try access(.connect) { (tree) throws(ProviderError) in
            guard expected == nil || expected == tree.identity else {
                throw ProviderError(
                    .unavailable, "another store is in memory than the one this drive uses", isOtherStore: true)
            }
            return tree.identity
        }
    }

    package func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        try access(.changes) { (tree) throws(ProviderError) in
            let next = ChangeCursor("\(tree.counter)")
            if next == cursor { return .none(next: next) }
            guard keepsJournal else { return .everything(tree.items(capabilities), next: next) }
            defer { tree.journal[next] = tree.nodes }
            guard let before = cursor.flatMap({ tree.journal[$0] }) else {
                return .everything(tree.items(capabilities), next: next)
            }
            let (changed, removed) = tree.changes(since: before, capabilities)
            return .changes(changed, removed: removed, next: next)
        }
    }

    /// Does nothing with it: whoever looks sees everything.
    package func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError) {
        try access(.announce(changes)) { (_) throws(ProviderError) in }
    }

    package func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        try MemoryNames.validateReading(path, capabilities)
        return try access(.item(path)) { (tree) throws(ProviderError) in tree.item(at: path, capabilities) }
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        let (item, content) = try find(path, version, .fetch(path))
        return try await pool.run { (cancellation) throws(ProviderError) in
            var fetched = item
            fetched.checksum = try LocalFiles.write(content, to: destination, path, cancellation, progress)
            return fetched
        }
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        let (item, content) = try find(path, version, .fetchPart(path, range))
        guard Int64(content.count) >= range.upperBound else { throw ProviderError.refused(path) }
        return try await pool.run { (cancellation) throws(ProviderError) in
            let sink = try PartSink(destination, for: path, range)
            try cancellation.check()
            let part = Array(content[Int(range.lowerBound)..<Int(range.upperBound)])
            try part.withUnsafeBufferPointer { (bytes) throws(ProviderError) in
                try sink.write(UnsafeRawBufferPointer(bytes))
            }
            progress(sink.size)
            return item
        }
    }

    /// The document at `path` and its content, of that version.
    private func find(
        _ path: RelativePath, _ version: ProviderVersion, _ operation: Operation
    ) throws(ProviderError) -> (RemoteItem, [UInt8]) {
        try MemoryNames.validate(path, capabilities)
        return try access(operation) { (tree) throws(ProviderError) in
            guard let item = tree.item(at: path, capabilities) else { throw ProviderError.notFound(path) }
            guard item.kind == .file, let content = tree.nodes[path]?.content else {
                throw ProviderError(.unsupported, "\(path) is a \(item.kind.rawValue): it has no content to fetch")
            }
            if item.version == version { return (item, content) }
            guard let earlier = tree.earlier[path]?.last(where: { $0.item.version == version }) else {
                throw ProviderError.refused(path)
            }
            return earlier
        }
    }

    package func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try MemoryNames.validate(path, capabilities)
        let bytes = try await pool.run { (cancellation) throws(ProviderError) in
            try LocalFiles.read(content, path, cancellation)
        }
        return try access(.put(path)) { (tree) throws(ProviderError) in
            try tree.check(path, expecting)
            if capabilities.earlierVersions { tree.keepVersion(path, capabilities) }
            let freed = tree.nodes[path]?.content?.count ?? 0
            if let quota, tree.used - Int64(freed) + Int64(bytes.count) > quota.bytes {
                throw ProviderError(.noSpace, "\(path) does not fit into the quota of \(quota)")
            }
            tree.place(path, .file(bytes), mtime: attributes.mtime, mode: attributes.mode, tags: attributes.tags)
            var item = try tree.present(path, capabilities)
            item.checksum = content.checksum
            return item
        }
    }

    package func earlierVersions(of path: RelativePath) async throws(ProviderError) -> [RemoteItem] {
        guard capabilities.earlierVersions else { throw MemoryTree.unsupported(path, "keep earlier versions") }
        return try access(.item(path)) { (tree) throws(ProviderError) in
            guard tree.nodes[path] != nil else { throw ProviderError.notFound(path) }
            return tree.earlier[path]?.reversed().map(\.item) ?? []
        }
    }

    package func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try MemoryNames.validate(path, capabilities)
        return try access(.putSymlink(path)) { (tree) throws(ProviderError) in
            guard capabilities.symlinks else { throw MemoryTree.unsupported(path, "keep symbolic links") }
            try tree.check(path, expecting)
            tree.place(path, .symlink(target), mtime: mtime, mode: 0o777)
            return try tree.present(path, capabilities)
        }
    }

    package func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try MemoryNames.validate(path, capabilities)
        return try access(.createDirectory(path)) { (tree) throws(ProviderError) in
            try tree.check(path, .absent)
            tree.place(path, .directory, mtime: attributes.mtime, mode: attributes.mode, tags: attributes.tags)
            return try tree.present(path, capabilities)
        }
    }

    package func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        try MemoryNames.validate(path, capabilities)
        return try access(.setAttributes(path)) { (tree) throws(ProviderError) in
            try tree.expect(path, version)
            guard capabilities.attributes else { throw MemoryTree.unsupported(path, "keep attributes") }
            tree.setAttributes(path, attributes)
            return try tree.present(path, capabilities)
        }
    }

    package func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try MemoryNames.validate(path, capabilities)
        try MemoryNames.validate(destination, capabilities)
        if destination != path, destination.isInside(path) {
            throw ProviderError(.unsupported, "\(path) cannot be moved into itself")
        }
        return try access(.move(path, to: destination)) { (tree) throws(ProviderError) in
            try tree.expect(path, version)
            if !capabilities.directoryMoves, tree.nodes[path]?.kind == .directory {
                throw MemoryTree.unsupported(path, "move directories")
            }
            try tree.check(destination, .absent)
            tree.move(path, to: destination)
            return try tree.present(destination, capabilities)
        }
    }

    package func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try MemoryNames.validate(path, capabilities)
        try access(.delete(path)) { (tree) throws(ProviderError) in
            try tree.expect(path, version)
            if tree.nodes.keys.contains(where: { $0 != path && $0.isInside(path) }) {
                throw ProviderError(.notEmpty, "\(path) is not empty")
            }
            tree.remove(path)
        }
    }

    package func freeSpace() async throws(ProviderError) -> ByteCount? {
        try access(.freeSpace) { (tree) throws(ProviderError) in
            quota.map { ByteCount(max(0, $0.bytes - tree.used)) }
        }
    }

    func access<Value: Sendable>(
        _ operation: Operation, _ body: (inout MemoryTree) throws(ProviderError) -> Value
    ) throws(ProviderError) -> Value {
        if Task.isCancelled { throw ProviderError(.cancelled, "the operation was cancelled") }
        return try tree.withLock { (tree) throws(ProviderError) in
            tree.operations.append(operation)
            guard tree.isOnline else { throw ProviderError(.unavailable, "the storage in memory is switched off") }
            return try body(&tree)
        }
    }
}
