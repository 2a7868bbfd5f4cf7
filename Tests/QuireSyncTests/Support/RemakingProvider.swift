import QuireCore
import QuireProviders
import Synchronization

/// A provider that makes something else of office documents as they are put, as some servers do.
final class RemakingProvider: ForwardingProvider {
    private let memory: MemoryProvider
    private let remake: @Sendable ([UInt8]) -> [UInt8]
    /// Whether it can tell that nobody else wrote what is there then.
    private let isCertain: Bool

    var inner: any DocumentProvider { memory }

    init(_ memory: MemoryProvider, isCertain: Bool, _ remake: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.memory = memory
        self.isCertain = isCertain
        self.remake = remake
    }

    func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        let sent = try await memory.put(path, content: content, attributes: attributes, expecting: expecting)
        guard path.name?.string?.hasSuffix(".docx") == true, let bytes = memory.contents(at: path) else { return sent }
        memory.edit { $0.write(path, .file(remake(bytes)), mtime: attributes.mtime) }
        guard isCertain, var item = memory.items.first(where: { $0.path == path }) else {
            throw ProviderError(.conditionFailed, "\(path) is not what was sent", isTaken: true)
        }
        item.checksum = nil
        return item
    }
}
