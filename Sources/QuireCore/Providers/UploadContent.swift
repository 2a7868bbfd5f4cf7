/// The bytes of an upload: a snapshot in the staging directory that nobody writes to any more.
public struct UploadContent: Sendable, Hashable {
    /// Absolute path of the snapshot; the caller keeps it until the call has returned.
    public var snapshotPath: String
    /// Exact size of the snapshot.
    public var size: ByteCount
    /// SHA-256 of the snapshot.
    public var checksum: ContentChecksum

    /// Takes what belongs together.
    public init(snapshotPath: String, size: ByteCount, checksum: ContentChecksum) {
        self.snapshotPath = snapshotPath
        self.size = size
        self.checksum = checksum
    }
}

/// Attributes that travel with content.
public struct RemoteAttributes: Sendable, Hashable {
    /// When the content last changed.
    public var mtime: FileTime
    /// Permission bits, 0 … 0o777.
    public var mode: UInt16
    /// The user's tags; nil says nothing of them.
    public var tags: [String]?

    /// Takes what belongs together.
    public init(mtime: FileTime, mode: UInt16, tags: [String]? = nil) {
        self.mtime = mtime
        self.mode = mode
        self.tags = tags
    }
}
