/// The bytes of an upload: a snapshot in the staging directory that nobody writes to any more.
public struct UploadContent: Sendable, Hashable {
    /// Absolute path of the snapshot; the caller keeps it until the call has returned.
    public var snapshotPath: String
    public var size: ByteCount
    public var checksum: ContentChecksum

    public init(snapshotPath: String, size: ByteCount, checksum: ContentChecksum) {
        self.snapshotPath = snapshotPath
        self.size = size
        self.checksum = checksum
    }
}

/// Attributes that travel with content.
public struct RemoteAttributes: Sendable, Hashable {
    public var mtime: FileTime
    /// Permission bits, 0 … 0o777.
    public var mode: UInt16

    public init(mtime: FileTime, mode: UInt16) {
        self.mtime = mtime
        self.mode = mode
    }
}
