/// What a rescan found.
package struct RescanReport: Sendable, Hashable {
    package var directories = 0
    package var added = 0
    package var changed = 0
    package var moved = 0
    package var removed = 0
    /// So much was missing that deletions are held until they are confirmed (`MetadataIndex.confirmDeletes`).
    package var holdsDeletes = false
    /// Directories that could not be compared, or not all of them.
    package var unread: [UnreadPlace] = []
    /// Why the rescan ended early; nothing was taken as removed then.
    package var failure: String?

    package init() {}
}

/// How far a rescan is.
package struct RescanProgress: Sendable, Hashable {
    package var isActive = false
    package var directoriesDone = 0
    package var directoriesQueued = 0
    /// Of the last whole rescan that ended since the index was opened.
    package var lastReport: RescanReport?

    package init() {}
}
