import QuireCore
import Synchronization

/// The directory that a change is to be made in.
enum WantedDirectory: Sendable, Hashable {
    /// Whatever is at the path.
    case any
    case inode(UInt64)

    var inode: UInt64? { if case .inode(let inode) = self { inode } else { nil } }
}

/// Directories that a pass has made, by the provider's path: what belongs in them can be brought in the same pass.
final class MadeDirectories: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let inodes = Lock<[RelativePath: UInt64]>([:])

    func insert(_ path: RelativePath, inode: UInt64) { inodes.withLock { $0[path] = inode } }

    /// Nil for one that is not made yet.
    func find(_ directory: TreeUnit.Directory) -> WantedDirectory? {
        switch directory {
        case .root: .any
        case .known(let inode): .inode(inode)
        case .made(let path): inodes.withLock { $0[path] }.map { .inode($0) }
        }
    }
}
