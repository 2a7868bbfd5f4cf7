/// The bytes of an upload that were not copied first.
package enum DirectContent: Sendable {
    /// A small document as it was at one moment, with its SHA-256.
    case bytes([UInt8], ContentChecksum)
    /// A document that programs may write to meanwhile.
    case document(LiveDocument)

    /// Most bytes that are taken into memory.
    package static let mostBytes = ByteCount(1 << 20)

    /// Exact size.
    package var size: ByteCount {
        switch self {
        case .bytes(let bytes, _): ByteCount(Int64(bytes.count))
        case .document(let document): document.size
        }
    }
}

/// A document that is sent from where it is, while nobody keeps programs from writing to it.
///
/// Whether what was read is one state of it is only known when all was read: nothing may be published before `seal` has
/// returned.
package struct LiveDocument: Sendable {
    /// Absolute path that leads to the document as long as the call lasts, also when it is renamed or removed.
    package var path: String
    /// What it had when it was opened.
    package var size: ByteCount
    /// Called with the SHA-256 of all that was read, before the last of it is sent; again where it is sent again. What it
    /// throws ends the upload, and the provider keeps what it had.
    package var seal: @Sendable (ContentChecksum) async throws(ProviderError) -> Void

    /// Takes what belongs together.
    package init(
        path: String, size: ByteCount, seal: @escaping @Sendable (ContentChecksum) async throws(ProviderError) -> Void
    ) {
        self.path = path
        self.size = size
        self.seal = seal
    }
}

/// A provider that can do without a snapshot of what it sends. Others get one: `UploadContent`.
package protocol DirectUploading: DocumentProvider {
    /// Whether it takes documents that programs may write to: it reads them once, from the beginning to the end, and an
    /// upload that ends early leaves what was there. Bytes it takes always.
    var takesLiveDocuments: Bool { get }

    /// As `put` of a snapshot.
    ///
    /// - Throws: as `put`; what `LiveDocument.seal` throws.
    func put(
        _ path: RelativePath, direct content: DirectContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem
}
