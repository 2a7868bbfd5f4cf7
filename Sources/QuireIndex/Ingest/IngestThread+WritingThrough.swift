import Glibc
import GRDB
import QuireCore

/// What sync has changed in the store is on the disk before the rows that say so.
///
/// ```
/// sync's change in the store ─▶ its event ─▶ batch ─▶ directories written through ─▶ rows committed
/// ```
/// A document that came would otherwise be missing after a power cut, or be the former one, while its row says what the
/// provider has: it would be deleted there, or the former content be uploaded over it.
extension IngestThread {
    /// More directories than this are not written through one by one, but with the whole file system.
    private static let fewDirectories = 3

    /// Writes through to the disk what the entries tell of sync's changes. Of any other nothing is known at the provider.
    ///
    /// - Throws: an `IndexError` of the disk.
    func writeThrough(_ entries: [IngestQueue.Entry]) throws {
        let inodes = Set(entries.flatMap(\.changedDirectories))
        guard !inodes.isEmpty else { return }
        do {
            try lister.writeThrough(inodes.count > Self.fewDirectories ? nil : paths(of: inodes))
        } catch let error as ListError {
            throw IndexError.notWrittenThrough(error.errno)
        }
    }

    /// Where directories are; nil where that is not known of all.
    private func paths(of inodes: Set<UInt64>) throws -> [UInt64: RelativePath]? {
        try database.use { pool in
            try pool.writeWithoutTransaction { db in
                var writer = TreeWriter(db: db, state: state) { [lister] in lister.look(at: $0) }
                var paths: [UInt64: RelativePath] = [:]
                for inode in inodes {
                    guard let directory = try writer.directory(inode), let row = try writer.row(directory.id),
                        let path = try writer.path(of: row)
                    else { return nil }
                    paths[inode] = path
                }
                return paths
            }
        }
    }
}

extension IngestQueue.Entry {
    /// Inodes of the directories in whose entries sync has changed something that the provider has, or had.
    fileprivate var changedDirectories: [UInt64] {
        guard case .event(.committed(let commit)) = work else { return [] }
        switch commit.change {
        // What the provider has no more, nor the index then, would be a new document.
        case .removed(let parent, _, _): return [parent]
        case .installed(let parent, _, _, _): return commit.base == nil ? [] : [parent]
        case .moved(let fromParent, _, let toParent, _, _): return commit.base == nil ? [] : [fromParent, toParent]
        case .attributes: return []
        }
    }
}

extension IndexError {
    fileprivate static func notWrittenThrough(_ errno: Int32) -> IndexError {
        let (isFull, reason) = (errno == ENOSPC || errno == EDQUOT, String(cString: strerror(errno)))
        var error = IndexError(
            isFull ? .noSpace : .failed,
            isFull
                ? "the disk is full: what came to the drive is not written through. Free some space"
                : "the disk does not take what came to the drive: it may be failing. See to that", cause: reason)
        error.isOfDisk = true
        return error
    }
}
