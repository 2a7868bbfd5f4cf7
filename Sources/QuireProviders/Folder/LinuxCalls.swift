import Glibc

/// System calls that the C library declares only with GNU extensions, looked up by name; nil where it has none.
enum LinuxCalls {
    typealias Rename = @convention(c) @Sendable (
        Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
    ) -> Int32
    typealias Status = @convention(c) @Sendable (
        Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer
    ) -> Int32

    static let renameat2 = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: Rename.self) }
    static let statx = dlsym(nil, "statx").map { unsafeBitCast($0, to: Status.self) }

    /// From `linux/fs.h`, `linux/fcntl.h`, `linux/stat.h` and `asm-generic/fcntl.h`.
    static let renameNoReplace: UInt32 = 1
    static let renameExchange: UInt32 = 2
    static let emptyPath: Int32 = 0x1000
    static let pathOnly: Int32 = 0o10_000_000
    static let cloneFile: UInt = 0x4004_9409
    static let setSignal: Int32 = 10
    static let setLease: Int32 = 1024
    static let statusMask: UInt32 = 0xFFF
    static let birthTimeMask: UInt32 = 0x800
}
