package import QuireCore

/// Which items `find` returns.
package struct ItemQuery: Sendable, Hashable {
    /// Matched against the item's own name; nil matches all.
    package var nameGlob: Glob?
    /// Empty matches all.
    package var states: Set<ItemState>
    /// Only what lies below this directory of the drive (the directory itself is not in the result).
    package var under: RelativePath
    package var limit: Int

    package init(nameGlob: Glob? = nil, states: Set<ItemState> = [], under: RelativePath = .root, limit: Int = .max) {
        self.nameGlob = nameGlob
        self.states = states
        self.under = under
        self.limit = limit
    }
}

/// How many items there are, and how many wait for what.
package struct IndexCounts: Sendable, Hashable {
    /// Entries of the drive, without its root and the roots of containers.
    package var items = 0
    /// Created, or with other content or attributes.
    package var pendingUploads = 0
    package var pendingDeletes = 0
    package var pendingRenames = 0
    /// Conflict copies.
    package var conflicts = 0
    package var dataless = 0
    package var parked = 0

    package init() {}
}
