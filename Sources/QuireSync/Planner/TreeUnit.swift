package import QuireCore

/// A local item as the planner sees it.
package struct LocalEntry: Sendable, Hashable {
    package var id: ItemID
    /// Below the container's root.
    package var path: RelativePath
    package var content: LocalState.Content
    package var facts: ItemFacts
    package var fingerprint: Fingerprint
    package var isLocalOnly: Bool

    package init(
        id: ItemID, path: RelativePath, content: LocalState.Content, facts: ItemFacts, fingerprint: Fingerprint,
        isLocalOnly: Bool = false
    ) {
        self.id = id
        self.path = path
        self.content = content
        self.facts = facts
        self.fingerprint = fingerprint
        self.isLocalOnly = isLocalOnly
    }
}

/// A base, and the local item that is linked to it; nil when that was deleted here.
package struct TreeBase: Sendable, Hashable {
    package var record: BaseRecord
    @OnHeap package var local: LocalEntry?

    package init(record: BaseRecord, local: LocalEntry?) {
        self.record = record
        self.local = local
    }
}

/// One item of the three trees, and what is to be done about it.
package struct TreeUnit: Sendable, Hashable {
    @OnHeap package var base: BaseRecord?
    @OnHeap package var local: LocalEntry?
    @OnHeap package var remote: RemoteItem?
    /// Where the item belongs in the store once the plan is done, below the container's root; nil where nothing remains.
    package var target: RelativePath?
    /// The directory that `target` is in. A path alone may be another's until all moves are done.
    package var directory: Directory
    package var plan: ItemPlan

    /// A directory of the store.
    package enum Directory: Sendable, Hashable {
        /// The container's root; or nobody asks.
        case root
        /// The one with this inode.
        case known(inode: UInt64)
        /// The one that is made for the provider's at this path.
        case made(for: RelativePath)
    }

    package init(
        base: BaseRecord?, local: LocalEntry?, remote: RemoteItem?, target: RelativePath?, directory: Directory = .root,
        plan: ItemPlan
    ) {
        self.directory = directory
        self.base = base
        self.local = local
        self.remote = remote
        self.target = target
        self.plan = plan
    }

    /// One about which nothing is to be done: what is left of it is where it is here.
    init(unchanged local: OnHeap<LocalEntry>) {
        _local = local
        directory = .root
        plan = ItemPlan([])
    }
}

extension TreeUnit: CustomStringConvertible {
    /// Where the three sides are, for logs: `base b@1 local b remote c@1 at c`.
    package var description: String {
        let parts = [
            base.map { "base \($0.path)@\($0.version)" },
            local.map { "local \($0.path) \($0.content) \($0.facts.kind)" },
            remote.map { "remote \($0.path)@\($0.version) \($0.kind)" }, target.map { "at \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}
