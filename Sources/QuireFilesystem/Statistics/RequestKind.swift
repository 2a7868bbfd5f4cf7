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
