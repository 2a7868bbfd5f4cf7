import GRDB
import QuireCore

/// Whether an item is being removed here, because the provider has nothing of it any more: `bases.removal`.
enum RemovalState: Int64 {
    case none
    /// Sync is about to do it.
    case begun
    /// A daemon that ended was about to do it: whether it did, a rescan tells.
    case left
}

/// Removals by sync that were begun. Between the removal in the store and the record of it the daemon may end: what is missing
/// then would be taken for a deletion of the user's, and be deleted at the provider, where it may be back by then.
extension TreeWriter {
    /// These are about to be removed. What was before, and is here still, stays.
    func noteRemovals(_ container: ContainerID, _ paths: [RelativePath]) throws {
        try setRemovals(.begun, .none, " AND container = ?", .text(container.rawValue))
        for path in paths {
            guard let base = try base(container, at: path) else { continue }
            try db.run(
                "UPDATE bases SET removal = ? WHERE id = ?", .integer(RemovalState.begun.rawValue), .integer(base.id))
        }
    }

    /// The daemon that had begun these has ended.
    func leaveRemovals() throws { try setRemovals(.begun, .left) }

    /// A rescan has seen all that is there: what is missing was removed, all else stays.
    func endRemovals() throws { try setRemovals(.left, .none) }

    /// Finds them by the index of those few, which takes the words that it was made with.
    private func setRemovals(
        _ before: RemovalState, _ after: RemovalState, _ condition: String = "", _ values: SQLValue...
    ) throws {
        try db.run(
            "UPDATE bases INDEXED BY bases_removal SET removal = ? WHERE removal <> 0 AND removal = ?\(condition)",
            [.integer(after.rawValue), .integer(before.rawValue)] + values)
    }
}
