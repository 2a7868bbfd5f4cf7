import CFuse
import Glibc

/// Who waits for a WRITE, and for what.
enum WriteKind {
    /// Nobody: the kernel had collected it.
    case delayed
    /// A program, until the store has taken it; the kernel sends an FSYNC of its own where it has to be on disk.
    case ordinary
    /// A program, until it is on disk: of a handle that writes directly the kernel leaves O_SYNC, O_DSYNC and RWF_DSYNC to
    /// whom it hands the write.
    case durable

    init(_ info: UnsafePointer<fuse_file_info>?, _ file: OpenFile) {
        if info?.pointee.writepage == 1 {
            self = .delayed
        } else {
            self = file.writesDirectly && (info?.pointee.flags ?? 0) & O_DSYNC != 0 ? .durable : .ordinary
        }
    }
}
