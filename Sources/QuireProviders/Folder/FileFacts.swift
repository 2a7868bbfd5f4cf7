import Glibc
import QuireCore

/// What the filesystem says of a file at one moment.
struct FileFacts: Sendable, Hashable {
    var kind: FileKind
    /// Permission bits: 0 … 0o777.
    var mode: UInt16
    var size: Int64
    var mtime: FileTime
    var ctime: FileTime
    var device: UInt64
    var inode: UInt64
    var linkCount: UInt32
    /// When the inode was made; nil where the filesystem does not tell.
    var birth: FileTime?

    /// Whether both are the same inode with, as far as times and size tell, the same content.
    ///
    /// The change time is left out: a rename changes it.
    func isSameContent(as other: FileFacts) -> Bool {
        inode == other.inode && birth == other.birth && kind == other.kind && size == other.size && mtime == other.mtime
    }

    /// Whether both are one inode, whatever became of its content.
    func isSameFile(as other: FileFacts) -> Bool {
        inode == other.inode && birth == other.birth && device == other.device
    }

    /// Reads the kernel's `struct statx` (`linux/stat.h`, 256 bytes).
    init(statx raw: UnsafeRawBufferPointer) {
        func time(_ offset: Int) -> FileTime {
            FileTime(
                seconds: Int(raw.load(fromByteOffset: offset, as: Int64.self)),
                nanoseconds: Int(raw.load(fromByteOffset: offset + 8, as: UInt32.self)))
        }
        let bits = mode_t(raw.load(fromByteOffset: 28, as: UInt16.self))
        let known = raw.load(fromByteOffset: 0, as: UInt32.self)
        self.kind = FileKind(modeBits: bits)
        self.mode = UInt16(bits & 0o777)
        self.size = Int64(raw.load(fromByteOffset: 40, as: UInt64.self))
        self.mtime = time(112)
        self.ctime = time(96)
        self.device =
            UInt64(raw.load(fromByteOffset: 136, as: UInt32.self)) << 32
            | UInt64(raw.load(fromByteOffset: 140, as: UInt32.self))
        self.inode = raw.load(fromByteOffset: 32, as: UInt64.self)
        self.linkCount = raw.load(fromByteOffset: 16, as: UInt32.self)
        self.birth = known & LinuxCalls.birthTimeMask != 0 ? time(80) : nil
    }

    /// Takes what plain `stat` knows: no birth time.
    init(_ raw: stat) {
        let status = FileStatus(raw)
        self.kind = status.kind
        self.mode = status.mode & 0o777
        self.size = status.size
        self.mtime = status.mtime
        self.ctime = status.ctime
        self.device = status.device
        self.inode = status.inode
        self.linkCount = UInt32(truncatingIfNeeded: status.linkCount)
        self.birth = nil
    }
}
