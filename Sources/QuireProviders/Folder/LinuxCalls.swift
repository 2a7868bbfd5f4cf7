/// Numbers that Swift's Glibc module leaves out and `CLinux` does not name: `linux/fcntl.h`, `linux/stat.h`.
enum LinuxCalls {
    /// AT_EMPTY_PATH: the descriptor itself.
    static let emptyPath: Int32 = 0x1000
    /// F_SETSIG and F_SETLEASE.
    static let setSignal: Int32 = 10
    static let setLease: Int32 = 1024
    /// STATX_BTIME.
    static let birthTimeMask: UInt32 = 0x800
}
