import CLinux
import Glibc
import QuireCore

/// The system calls by which the store is looked at; tests have them fail.
struct StoreCalls: Sendable {
    /// Opens a directory by its name in another one, or by an absolute path; -1 with errno set.
    var open: @Sendable (_ directory: Int32, _ name: UnsafePointer<CChar>) -> Int32 = {
        openat($0, $1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Reads the status of what has the name in a directory, not following symlinks; -1 with errno set.
    var status:
        @Sendable (_ directory: Int32, _ name: UnsafePointer<CChar>, _ into: UnsafeMutablePointer<stat>) -> Int32 = {
            fstatat($0, $1, $2, AT_SYMLINK_NOFOLLOW)
        }

    /// Writes an open directory through to the disk, or the whole file system that it is on; -1 with errno set.
    var writeThrough: @Sendable (_ directory: Int32, _ isWhole: Bool) -> Int32 = { $1 ? quire_syncfs($0) : fsync($0) }

    /// Writes what a placeholder says of itself to an open file; -1 with errno set.
    var setMark: @Sendable (_ file: Int32, _ value: [UInt8]) -> Int32 = {
        fsetxattr($0, StoreAttribute.placeholder, $1, $1.count, 0)
    }
}
