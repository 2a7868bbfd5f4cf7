package import Glibc

/// What `stat` says of a file in the store, as a value.
package struct FileStatus: Sendable, Hashable {
    package var kind: FileKind
    /// Permission bits and setuid, setgid, sticky: 0 … 0o7777.
    package var mode: UInt16
    package var size: Int64
    package var mtime: FileTime
    package var ctime: FileTime
    package var device: UInt64
    package var inode: UInt64
    package var linkCount: UInt64
    /// 512-byte blocks that are allocated.
    package var blocks: Int64

    package init(
        kind: FileKind, mode: UInt16, size: Int64, mtime: FileTime, ctime: FileTime, device: UInt64, inode: UInt64,
        linkCount: UInt64, blocks: Int64
    ) {
        self.kind = kind
        self.mode = mode
        self.size = size
        self.mtime = mtime
        self.ctime = ctime
        self.device = device
        self.inode = inode
        self.linkCount = linkCount
        self.blocks = blocks
    }

    package init(_ raw: stat) {
        self.init(
            kind: FileKind(modeBits: raw.st_mode), mode: UInt16(raw.st_mode & 0o7777), size: Int64(raw.st_size),
            mtime: FileTime(seconds: raw.st_mtim.tv_sec, nanoseconds: raw.st_mtim.tv_nsec),
            ctime: FileTime(seconds: raw.st_ctim.tv_sec, nanoseconds: raw.st_ctim.tv_nsec),
            device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino), linkCount: UInt64(raw.st_nlink),
            blocks: Int64(raw.st_blocks))
    }

    /// What decides whether content may have changed.
    package var fingerprint: Fingerprint {
        Fingerprint(inode: inode, size: size, mtime: mtime, ctime: ctime, kind: kind)
    }
}

extension FileKind {
    /// The kind in `st_mode`.
    package init(modeBits: mode_t) {
        switch modeBits & S_IFMT {
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symlink
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        case S_IFCHR: self = .characterDevice
        case S_IFBLK: self = .blockDevice
        default: self = .file
        }
    }
}
