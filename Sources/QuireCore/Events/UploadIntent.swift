/// An upload whose answer this device does not know: it is under way, or its answer was lost by a crash or by the network.
///
/// Committed before the first byte is sent. Without it, what this device sent would be taken for another's edit where the
/// document was written again before the answer was recorded.
package struct UploadIntent: Sendable, Hashable {
    package var item: ItemID
    package var container: ContainerID
    /// Where at the provider, below the container's root.
    package var path: RelativePath
    /// A file, a symlink, or a directory that is made.
    package var kind: FileKind
    package var size: ByteCount
    /// Of what is sent; of a symlink's target; of a directory that of nothing.
    package var checksum: ContentChecksum
    /// The local state that is sent.
    package var fingerprint: Fingerprint

    package init(
        item: ItemID, container: ContainerID, path: RelativePath, kind: FileKind, size: ByteCount,
        checksum: ContentChecksum, fingerprint: Fingerprint
    ) {
        self.item = item
        self.container = container
        self.path = path
        self.kind = kind
        self.size = size
        self.checksum = checksum
        self.fingerprint = fingerprint
    }
}
