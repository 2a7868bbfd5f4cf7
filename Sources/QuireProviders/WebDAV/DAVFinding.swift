import QuireCore

/// What a look at a path finds.
struct DAVFinding: Sendable {
    let item: RemoteItem
    /// The server's own, as it came.
    let entityTag: String?
    /// When the server says that it was changed last.
    let modified: FileTime?
    /// When it said so, by its own clock.
    var told: FileTime?
}

extension DAVFinding {
    /// Whether what a MOVE has brought to its new place is this; nil where that cannot be told.
    ///
    /// RFC 4918 does not say what becomes of an entity tag. Most servers keep it, but not where they copy, as from one disk to
    /// another. There the time of change has to do, where the MOVE was sent with a condition or no document keeps its tag: in
    /// whole seconds, but of documents of which one was in the place of the other a moment ago, or was written over it right
    /// after the MOVE. Directories have no versions.
    ///
    /// - Parameters:
    ///   - keepsVersion: the server keeps the versions of what it moves, as a rule.
    ///   - isGuarded: the server was told which version to move, and heeds that.
    func isMoved(as after: DAVFinding, keepsVersion: Bool, isGuarded: Bool) -> Bool? {
        guard item.kind == after.item.kind, item.size == after.item.size else { return false }
        if item.kind == .directory || item.size == .zero { return true }
        if let here = item.checksum, let there = after.item.checksum { return here == there }
        if item.version == after.item.version { return true }
        guard isGuarded || !keepsVersion, let modified, modified == after.modified else { return nil }
        return true
    }
}
