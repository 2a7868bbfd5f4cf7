package import QuireCore

/// Which part of what is pending is wanted.
package struct PendingRequest: Sendable {
    /// Where the last page ended.
    package var start: PendingCursor
    /// Only what changed at this time or before it, or, by a clock that was set back since, after `now`.
    package var through: FileTime
    /// The same for what was deleted.
    package var deletionsThrough: FileTime
    package var now: FileTime
    /// How many items at most, those not counted that they need.
    package var limit: Int
    /// How many deletions may be added because something needs their directory to be empty. What needs more waits until
    /// some were sent by themselves.
    package var companionLimit = 4000
    /// What is left out, and only counted; nil for nothing.
    package var skips: (@Sendable (ParkedSubject) -> Bool)?

    package init(
        from start: PendingCursor = .start, through: FileTime, deletionsThrough: FileTime, now: FileTime, limit: Int,
        skips: (@Sendable (ParkedSubject) -> Bool)? = nil
    ) {
        self.start = start
        self.through = through
        self.deletionsThrough = deletionsThrough
        self.now = now
        self.limit = limit
        self.skips = skips
    }
}

/// A place in the order of what is pending: what is here comes first, then what became local-only, then what was
/// deleted; within these the oldest change first.
package struct PendingCursor: Sendable, Hashable {
    enum Stage: Int, Sendable {
        /// Created, changed or moved.
        case present
        /// Local-only now, and still at the provider.
        case hidden
        /// Deleted here.
        case gone
    }

    var stage: Stage
    var since: Int64 = .min
    /// The item's or, of what is gone, the base's.
    var id: Int64

    /// The beginning.
    package static let start = PendingCursor(stage: .present, id: .min)

    /// Where what is to be removed at the provider begins, or goes on from here.
    package var afterContent: PendingCursor { stage == .present ? PendingCursor(stage: .hidden, id: .min) : self }
}

/// A part of what is pending that can be planned by itself.
package struct PendingPage: Sendable {
    /// What was asked for, `asked` of them, and after these what they need.
    package var items: [PendingItem] = []
    package var asked = 0
    /// The provider's paths of the directories in which new and moved items lie, by local path, both below the
    /// container's root. Directories that the provider does not have are missing.
    package var directories: [RelativePath: RelativePath] = [:]
    /// How many were left out by `skips`.
    package var skipped = 0
    /// Where the next page begins; nil when this was the last.
    package var next: PendingCursor?
    /// With the last page: when the oldest of what is younger than `PendingRequest.through` changed.
    package var nextChange: FileTime?
    /// The same for `PendingRequest.deletionsThrough`.
    package var nextDeletion: FileTime?
}

/// How much of a container is pending.
package struct PendingTotals: Sendable, Hashable {
    /// Created or changed, and not moved.
    package var uploads = 0
    package var moves = 0
    /// Those that are held are not counted.
    package var deletions = 0

    package init(uploads: Int = 0, moves: Int = 0, deletions: Int = 0) {
        self.uploads = uploads
        self.moves = moves
        self.deletions = deletions
    }
}
