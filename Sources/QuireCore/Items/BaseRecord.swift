/// What the provider last acknowledged of an item: the base of the three-way comparison.
package struct BaseRecord: Sendable, Hashable {
    package var container: ContainerID
    /// Where the provider has it, below the container's root.
    package var path: RelativePath
    package var kind: FileKind
    package var version: ProviderVersion
    package var size: Int64
    package var mtime: FileTime
    /// Nil where the provider keeps no mode.
    package var mode: UInt16?
    package var identifier: String?
    package var checksum: ContentChecksum?
    package var symlinkTarget: [UInt8]?
    /// Nil where the provider keeps no tags, or has not told them: then those that were known before stay.
    package var tags: [String]?

    package init(
        container: ContainerID, path: RelativePath, kind: FileKind, version: ProviderVersion, size: Int64,
        mtime: FileTime,
        mode: UInt16?, identifier: String?, checksum: ContentChecksum?, symlinkTarget: [UInt8]?,
        tags: [String]? = nil
    ) {
        self.container = container
        self.path = path
        self.kind = kind
        self.version = version
        self.size = size
        self.mtime = mtime
        self.mode = mode
        self.identifier = identifier
        self.checksum = checksum
        self.symlinkTarget = symlinkTarget
        self.tags = tags
    }

    /// Whether what a provider has in the same place may be the same item: of the same kind, and of the same identifier or
    /// without one.
    package func mayBe(_ item: RemoteItem) -> Bool {
        kind == item.kind && (identifier == item.identifier || identifier == nil || item.identifier == nil)
    }

    /// As `RemoteItem.toldTags`.
    package var toldTags: [String]? { RemoteItem.toldTags(tags, mode: mode) }

    /// The record of what a provider answered. `checksum` is what the caller computed, where the provider gave none.
    package init(container: ContainerID, _ item: RemoteItem, checksum: ContentChecksum? = nil) {
        self.init(
            container: container, path: item.path, kind: item.kind, version: item.version, size: item.size.bytes,
            mtime: item.mtime, mode: item.mode, identifier: item.identifier, checksum: checksum ?? item.checksum,
            symlinkTarget: item.symlinkTarget, tags: item.tags)
    }
}
