import QuireCore

/// Passes over what happens to files that neither have a picture nor may get one, so that unpacking sources is nothing to the
/// keeper of thumbnails.
///
/// Only a new entry, a rename and a removal tell a name; what is written is known by its inode.
struct ThumbnailFilter: Sendable {
    /// Nil: everything may get one.
    var interest: ThumbnailInterest?
    /// New files whose names say that they get none.
    private var dull: Set<UInt64> = []
    /// Files that have a picture, or are about to get one.
    private var tracked: Set<UInt64> = []

    /// Most dull inodes that are remembered: some megabytes. What is written to forgotten ones is looked at.
    private static let mostDull = 100_000

    /// From now on, everything of this file passes.
    mutating func track(_ inode: UInt64) {
        dull.remove(inode)
        tracked.insert(inode)
    }

    /// Whether an event is to be looked at.
    mutating func passes(_ event: StoreEvent) -> Bool {
        guard interest != nil else { return true }
        switch event {
        case .created(_, let name, let status): return passes(status.inode, name)
        case .contentChanged(let status, _), .attributesChanged(let status, _, _): return !dull.contains(status.inode)
        case .removed(_, let name, let inode):
            dull.remove(inode)
            return tracked.contains(inode) || mayGetPicture(name)
        case .renamed(let rename): return passes(rename)
        case .committed, .uploading, .acknowledged, .baseRemoved, .removing, .baseMoved, .counted: return true
        }
    }

    private mutating func passes(_ inode: UInt64, _ name: FileName) -> Bool {
        guard !tracked.contains(inode), !mayGetPicture(name) else {
            dull.remove(inode)
            return true
        }
        if dull.count >= Self.mostDull { dull = [] }
        dull.insert(inode)
        return false
    }

    /// A file that was dull and stays so, over one that is, too: as tools do that write beside a file first.
    private mutating func passes(_ rename: StoreEvent.Rename) -> Bool {
        let inode = rename.status.inode
        let isOverPicture = rename.replaced.map(tracked.contains) ?? false
        guard rename.status.kind == .file, rename.exchanged == nil, !isOverPicture, dull.contains(inode) else {
            dull.remove(inode)
            if let exchanged = rename.exchanged { dull.remove(exchanged.inode) }
            return true
        }
        return passes(inode, rename.toName)
    }

    private func mayGetPicture(_ name: FileName) -> Bool { interest?.mayGetPicture(name) ?? true }
}
