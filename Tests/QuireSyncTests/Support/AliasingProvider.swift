import QuireCore
import QuireProviders

/// A provider that finds what is at `NAME` under `NAME.` too, as exFAT does, and answers under the name it was asked for.
final class AliasingProvider: ForwardingProvider {
    let inner: any DocumentProvider

    init(_ inner: MemoryProvider) { self.inner = inner }

    /// The place that the provider takes a path for.
    private func place(_ path: RelativePath) -> RelativePath {
        guard let parent = path.parent, let name = path.name else { return path }
        let bytes = name.bytes.reversed().drop { $0 == 0x2E }.reversed()
        return parent.appending(FileName(unchecked: Array(bytes)))
    }

    private func named(_ path: RelativePath, _ item: RemoteItem) -> RemoteItem {
        var item = item
        item.path = path
        return item
    }

    func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        try await inner.item(at: place(path)).map { named(path, $0) }
    }

    func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        named(path, try await inner.fetch(place(path), version: version, to: destination, progress: progress))
    }

    func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        named(
            path,
            try await inner.put(place(path), content: content, attributes: attributes, expecting: expecting))
    }

    func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        named(path, try await inner.putSymlink(place(path), target: target, mtime: mtime, expecting: expecting))
    }

    func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        named(path, try await inner.createDirectory(place(path), attributes: attributes))
    }

    func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        named(path, try await inner.setAttributes(place(path), attributes, expecting: version))
    }

    func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        named(destination, try await inner.move(place(path), to: place(destination), expecting: version))
    }

    func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try await inner.delete(place(path), expecting: version)
    }
}
