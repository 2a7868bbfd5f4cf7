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
    /// Nil matches all.
    package var predicate: QueryPredicate?
    /// The first counts first; what is alike in all, and all where there are none, is ordered by path: a directory comes before
    /// what lies in it, names are compared byte by byte.
    package var order: [QueryOrder]
    /// What the sync engine does with items now: their state, for conditions that ask for it.
    package var transfers: [ItemID: ItemState] = [:]

    package init(
        nameGlob: Glob? = nil, states: Set<ItemState> = [], under: RelativePath = .root, limit: Int = .max,
        predicate: QueryPredicate? = nil, order: [QueryOrder] = []
    ) {
        self.predicate = predicate
        self.order = order
        self.nameGlob = nameGlob
        self.states = states
        self.under = under
        self.limit = limit
    }
}

/// By what results are ordered.
package struct QueryOrder: Sendable, Hashable {
    package var attribute: QueryAttribute
    package var isDescending: Bool

    package init(_ attribute: QueryAttribute, isDescending: Bool = false) {
        self.attribute = attribute
        self.isDescending = isDescending
    }
}

extension ItemQuery {
    /// Whether the item is one of those that are asked for, wherever it lies.
    package func matches(_ item: IndexItem) -> Bool {
        if let nameGlob, !nameGlob.matches(item.path.name?.bytes ?? []) { return false }
        let state = transfers[item.id] ?? item.state
        if !states.isEmpty, !states.contains(state) { return false }
        return predicate?.matches { item.value(of: $0, state: state) } ?? true
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
