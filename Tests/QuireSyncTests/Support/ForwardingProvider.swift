import QuireCore

/// A provider that passes on to another what it does not do in a way of its own.
protocol ForwardingProvider: DocumentProvider {
    /// The provider beneath.
    var inner: any DocumentProvider { get }
}

extension ForwardingProvider {
    var capabilities: ProviderCapabilities { inner.capabilities }

    var decision: String? { inner.decision }

    func recall(_ decision: String) { inner.recall(decision) }

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
        try await inner.put(path, content: content, attributes: attributes, expecting: expecting)
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
