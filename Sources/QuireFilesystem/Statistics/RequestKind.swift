import Glibc

/// What a request asks for: the kernel's opcode (`enum fuse_opcode` of linux/fuse.h), by its name there.
struct RequestKind: Hashable, Sendable {
    let opcode: UInt32

    /// Opcodes from here on are counted together.
    static let limit = 64

    /// In capitals, as the kernel's header writes it; `OPCODE 61` for one that is newer than this list.
    var name: String { Int(opcode) < Self.names.count ? Self.names[Int(opcode)] : "OPCODE \(opcode)" }

    static let interrupt = RequestKind(opcode: 36)
    static let forget = RequestKind(opcode: 2)
    static let forgetMany = RequestKind(opcode: 42)

    /// The kernel waits for no answer to these.
    var isAnswered: Bool { self != .interrupt && self != .forget && self != .forgetMany }

    private static let names = [
        "OPCODE 0", "LOOKUP", "FORGET", "GETATTR", "SETATTR", "READLINK", "SYMLINK", "OPCODE 7", "MKNOD", "MKDIR",
        "UNLINK", "RMDIR", "RENAME", "LINK", "OPEN", "READ", "WRITE", "STATFS", "RELEASE", "OPCODE 19", "FSYNC",
        "SETXATTR", "GETXATTR", "LISTXATTR", "REMOVEXATTR", "FLUSH", "INIT", "OPENDIR", "READDIR", "RELEASEDIR",
        "FSYNCDIR", "GETLK", "SETLK", "SETLKW", "ACCESS", "CREATE", "INTERRUPT", "BMAP", "DESTROY", "IOCTL", "POLL",
        "NOTIFY_REPLY", "BATCH_FORGET", "FALLOCATE", "READDIRPLUS", "RENAME2", "LSEEK", "COPY_FILE_RANGE",
        "SETUPMAPPING", "REMOVEMAPPING", "SYNCFS", "TMPFILE", "STATX",
    ]
}

/// The head of every request as it is read from the kernel (`struct fuse_in_header`).
struct RequestHeader {
    static let size = 40

    let kind: RequestKind
    /// Of the answer, too.
    let unique: UInt64
    let node: UInt64
    let process: Int32

    /// - Parameter request: at least `size` bytes.
    init(_ request: UnsafeRawBufferPointer) {
        kind = RequestKind(opcode: request.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        unique = request.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        node = request.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        process = request.loadUnaligned(fromByteOffset: 32, as: Int32.self)
    }
}

/// The nodes that the kernel keeps locked until a request is answered: directories in which names are looked up or changed,
/// files that are changed. (Linux, fs/namei.c, fs/attr.c, fs/xattr.c, fs/fuse/file.c)
struct LockedNodes: Hashable, Sendable {
    /// 0 where there is none.
    var first: UInt64 = 0
    var second: UInt64 = 0

    /// None.
    init() {}

    init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// - Parameter request: all of it.
    init(_ header: RequestHeader, _ request: UnsafeRawBufferPointer) {
        guard header.kind.opcode < RequestKind.limit, Self.locking & (1 << UInt64(header.kind.opcode)) != 0 else {
            return
        }
        first = header.node
        switch header.kind.opcode {
        // RENAME, RENAME2: the other directory. LINK: the file.
        case 12, 45, 13: second = Self.number(request, at: RequestHeader.size)
        // COPY_FILE_RANGE: the file that is written.
        case 47: second = Self.number(request, at: RequestHeader.size + 16)
        // OPEN: with O_TRUNC alone.
        case 14: if Self.number(request, at: RequestHeader.size) & UInt64(O_TRUNC) == 0 { first = 0 }
        default: break
        }
    }

    private static func number(_ request: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        request.count >= offset + 8 ? request.loadUnaligned(fromByteOffset: offset, as: UInt64.self) : 0
    }

    /// A bit for each opcode: LOOKUP, SETATTR, SYMLINK, MKNOD, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, WRITE, FSYNC, SETXATTR,
    /// REMOVEXATTR, READDIR, FSYNCDIR, CREATE, FALLOCATE, READDIRPLUS, RENAME2, LSEEK, COPY_FILE_RANGE, TMPFILE.
    private static let locking: UInt64 = [
        1, 4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 20, 21, 24, 28, 30, 35, 43, 44, 45, 46, 47, 51,
    ].reduce(0) { $0 | 1 << UInt64($1) }
}
