/// One item as the provider has it.
public struct RemoteItem: Sendable, Hashable {
    /// Below the provider's root.
    public var path: RelativePath
    /// `.file`, `.directory` or `.symlink`; providers list nothing else.
    public var kind: FileKind
    /// The version to name in the next condition on this item. Directories have one, too; it need not change when
    /// children do.
    public var version: ProviderVersion
    /// Exact size of the content; 0 for directories; for symlinks the target's length.
    public var size: ByteCount
    /// When the content last changed, as the uploading device said; `.unknown` where the provider has no time of it.
    public var mtime: FileTime
    /// Permission bits, 0 … 0o777; nil where the provider keeps none.
    public var mode: UInt16?
    /// An identity that survives a move at the provider; nil where `ProviderCapabilities.stableIdentifiers` is false.
    public var identifier: String?
    /// SHA-256 of the content where the provider knows it without reading.
    public var checksum: ContentChecksum?
    /// Target bytes; set exactly for symlinks.
    public var symlinkTarget: [UInt8]?
    /// The user's tags, in their order; nil where the provider keeps none, or the answer does not tell them. Empty for an item
    /// without a mode they say nothing: another program made or replaced it.
    public var tags: [String]?
    /// Why the provider could not tell what is at `path`, or below it; nil where it could. Nothing else here says anything
    /// then, and what was known of there counts as unchanged. Only in what `DocumentProvider.changes(since:)` answers.
    public var unseen: String?

    /// An item as a listing or an answer has it.
    public init(
        path: RelativePath, kind: FileKind, version: ProviderVersion, size: ByteCount, mtime: FileTime,
        mode: UInt16? = nil,
        identifier: String? = nil, checksum: ContentChecksum? = nil, symlinkTarget: [UInt8]? = nil,
        tags: [String]? = nil
    ) {
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

    /// A place of which the provider cannot tell what is there.
    ///
    /// - Parameter reason: in the provider's words.
    public static func unseen(_ path: RelativePath, because reason: String) -> RemoteItem {
        var item = RemoteItem(
            path: path, kind: .directory, version: ProviderVersion("unseen"), size: .zero,
            mtime: FileTime(nanoseconds: 0))
        item.unseen = reason
        return item
    }

    /// The tags, where the item says something of them.
    package var toldTags: [String]? { Self.toldTags(tags, mode: mode) }

    /// The tags, where those of an item with this mode say something.
    package static func toldTags(_ tags: [String]?, mode: UInt16?) -> [String]? {
        mode == nil && tags == [] ? nil : tags
    }
}
