package import QuireCore

/// What the index knows of an item in the store: what `stat` said when it last changed.
package struct LocalRecord: Sendable, Hashable {
    package var kind: FileKind
    /// 0 … 0o7777.
    package var mode: UInt16
    package var size: Int64
    package var mtime: FileTime
    package var ctime: FileTime
    package var inode: UInt64
    package var linkCount: UInt64
    /// It is a placeholder: only attributes are here.
    package var isDataless: Bool

    package init(
        kind: FileKind, mode: UInt16, size: Int64, mtime: FileTime, ctime: FileTime, inode: UInt64, linkCount: UInt64,
        isDataless: Bool
    ) {
        self.kind = kind
        self.mode = mode
        self.size = size
        self.mtime = mtime
        self.ctime = ctime
        self.inode = inode
        self.linkCount = linkCount
        self.isDataless = isDataless
    }

    package init(_ status: FileStatus, isDataless: Bool) {
        self.init(
            kind: status.kind, mode: status.mode, size: status.size, mtime: status.mtime, ctime: status.ctime,
            inode: status.inode, linkCount: status.linkCount, isDataless: isDataless)
    }

    /// What must be there still when a remote change is swapped in.
    package var fingerprint: Fingerprint {
        Fingerprint(inode: inode, size: size, mtime: mtime, ctime: ctime, kind: kind)
    }

    /// Whether it is, by size and time, a document that was here before: its placeholder or a copy.
    func isLike(size: Int64, mtime: FileTime) -> Bool {
        isDataless || self.mtime == mtime && (kind != .file || self.size == size)
    }

    /// Whether no other name of the same inode is expected.
    var isOnlyName: Bool { kind == .directory || linkCount <= 1 }
}

extension LocalRecord {
    /// Becomes what `fingerprint` says of the same inode.
    mutating func take(_ fingerprint: Fingerprint) {
        size = fingerprint.size
        mtime = fingerprint.mtime
        ctime = fingerprint.ctime
    }
}

extension Fingerprint {
    /// Whether both were read of one file.
    func isOfSameFile(as other: Fingerprint) -> Bool { inode == other.inode && kind == other.kind }
}
