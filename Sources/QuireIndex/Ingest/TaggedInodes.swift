import Synchronization
import QuireCore

/// The inodes of files that may have tags: all that have, and some that had. From any thread.
final class TaggedInodes: Sendable {
    /// Innermost lock.
    private let inodes = Lock<Set<UInt64>>([])

    func insert(_ inode: UInt64) { _ = inodes.withLock { $0.insert(inode) } }
    var isEmpty: Bool { inodes.withLock { $0.isEmpty } }
    func contains(_ inode: UInt64) -> Bool { inodes.withLock { $0.contains(inode) } }
}
