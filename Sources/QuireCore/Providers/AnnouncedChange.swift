/// Where a device has changed something at a provider, as it tells the others.
public struct AnnouncedChange: Sendable, Hashable {
    /// Of an item that was written, moved (both its paths) or deleted.
    public var path: RelativePath
    /// Of the document that was sent there last; nil where none was, or its attributes need not be told.
    public var version: ProviderVersion?
    /// What that document's mtime and mode are, where the provider's listings do not have them.
    public var attributes: RemoteAttributes?

    /// A change; the attributes are those of `version`.
    public init(_ path: RelativePath, _ version: ProviderVersion? = nil, _ attributes: RemoteAttributes? = nil) {
        self.path = path
        self.version = version
        self.attributes = attributes
    }

    /// What is known of a document whose item has the attributes that were uploaded.
    package init(_ item: RemoteItem) {
        self.init(item.path, item.version, item.mode.map { RemoteAttributes(mtime: item.mtime, mode: $0) })
    }

    /// Version and attributes, where there are both.
    package var document: (version: ProviderVersion, attributes: RemoteAttributes)? {
        guard let version, let attributes else { return nil }
        return (version, attributes)
    }

    /// The item, with the attributes that were sent with its version.
    package func completing(_ item: RemoteItem) -> RemoteItem {
        guard let (version, attributes) = document, item.kind == .file, item.version == version else { return item }
        var item = item
        (item.mtime, item.mode) = (attributes.mtime, attributes.mode)
        return item
    }
}
