import QuireCore
import QuireProviders
import Synchronization

/// A provider that makes something else of office documents as they are put, as some servers do.
final class RemakingProvider: DocumentProvider {
    private let inner: MemoryProvider
    private let remake: @Sendable ([UInt8]) -> [UInt8]
    /// Whether it can tell that nobody else wrote what is there then.
    private let isCertain: Bool

    init(_ inner: MemoryProvider, isCertain: Bool, _ remake: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.inner = inner
        self.isCertain = isCertain
        self.remake = remake
    }

    var capabilities: ProviderCapabilities { inner.capabilities }

    func connect(expected: String?) async throws(ProviderError) -> String {
        try await inner.connect(expected: expected)
    }

    func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        try await inner.changes(since: cursor)
    }

    func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? { try await inner.item(at: path) }

    func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.fetch(path, version: version, to: destination, progress: progress)
    }

    func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        let sent = try await inner.put(path, content: content, attributes: attributes, expecting: expecting)
        guard path.name?.string?.hasSuffix(".docx") == true, let bytes = inner.contents(at: path) else { return sent }
        inner.edit { $0.write(path, .file(remake(bytes)), mtime: attributes.mtime) }
        guard isCertain, var item = inner.items.first(where: { $0.path == path }) else {
            throw ProviderError(.conditionFailed, "\(path) is not what was sent", isTaken: true)
        }
        item.checksum = nil
        return item
    }

    func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.putSymlink(path, target: target, mtime: mtime, expecting: expecting)
    }

    func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.createDirectory(path, attributes: attributes)
    }

    func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.setAttributes(path, attributes, expecting: version)
    }

    func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.move(path, to: destination, expecting: version)
    }

    func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try await inner.delete(path, expecting: version)
    }

    func freeSpace() async throws(ProviderError) -> ByteCount? { try await inner.freeSpace() }
}
