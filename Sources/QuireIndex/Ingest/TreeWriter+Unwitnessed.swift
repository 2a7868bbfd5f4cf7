import GRDB
import QuireCore

/// Placeholders that have gone from their places without an event: moved while no daemon ran, or by one that ended before it
/// had recorded that.
///
/// ```
/// row at c/x, placeholder at d/x, not listed yet:   c is removed          ─▶ rows of c in no place ─┐
///                                                   something comes to c/x ─▶ rows stay ───────────┴▶ all is compared
/// ```
extension TreeWriter {
    /// Whether an event shows that a row's placeholder, or one of a directory's, had gone before without another having told
    /// of it. The provider has its only content, so that nothing may be concluded: only comparing all tells where it is.
    ///
    /// - Parameters:
    ///   - row: at the place to which the event brings something else.
    ///   - removed: the inode that the event itself took away there.
    func isUnwitnessed(_ row: ItemRow, replacing removed: UInt64? = nil) throws -> Bool {
        // A directory is empty when it is replaced.
        if row.local.kind == .directory { return try hasDataless(row) }
        return row.local.isDataless && row.local.inode != removed
    }

    /// A directory was removed, and so was empty; rows of it that are in no place now are looked for in all others.
    mutating func removeEmptied(_ row: ItemRow) throws {
        try sendToLimbo(row)
        unwitnessed.insert(row.parent)
    }
}
