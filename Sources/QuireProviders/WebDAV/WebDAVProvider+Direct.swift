package import QuireCore
import Synchronization

extension WebDAVProvider: DirectUploading {
    /// A PUT that is cut leaves what was there, or goes to a name of its own: which of these was tried when connecting.
    package var takesLiveDocuments: Bool { true }

    package func put(
        _ path: RelativePath, direct content: DirectContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        switch content {
        case .bytes(let bytes, let checksum):
            return try await put(path, .bytes(bytes), attributes, expecting) { checksum }
        case .document(var document):
            let sealed = SealedChecksum()
            let seal = document.seal
            document.seal = { (checksum) throws(ProviderError) in
                try await seal(checksum)
                sealed.set(checksum)
            }
            return try await put(path, .live(document), attributes, expecting) { sealed.value }
        }
    }
}

/// What a document had when it was sealed.
private final class SealedChecksum: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let checksum = Lock<ContentChecksum?>(nil)

    var value: ContentChecksum? { checksum.withLock { $0 } }
    func set(_ value: ContentChecksum) { checksum.withLock { $0 = value } }
}
