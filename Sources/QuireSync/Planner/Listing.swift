package import QuireCore
package import QuireIndex

/// What a provider has, or some of it, to be compared with one base after the other: so the bases need not be in memory with it.
///
/// What differs is all that a plan depends on. Where the provider has what was acknowledged there is nothing to do for a pull,
/// but for what one that ended early has put on its way (`TransitName`).
package struct Listing: Sendable {
    fileprivate let items: [RemoteItem]
    /// Positions in `items`; of a path that is told twice the last one counts.
    fileprivate let positions: [RelativePath: Int32]
    private let isWhole: Bool
    private let keepsAttributes: Bool
    private let unseen: UnseenPlaces

    /// - Parameters:
    ///   - items: in any order.
    ///   - isWhole: that what is not among them is not at the provider.
    ///   - keepsAttributes: see `TreeDiff`.
    ///   - excluding: directories that are kept by other providers; what this one has there is left alone.
    ///   - unseen: where it could not tell what is there.
    package init(
        _ items: [RemoteItem], isWhole: Bool, keepsAttributes: Bool = true, excluding: [RelativePath] = [],
        unseen: UnseenPlaces = UnseenPlaces()
    ) {
        self.unseen = unseen
        self.items = items
        self.isWhole = isWhole
        self.keepsAttributes = keepsAttributes
        var positions: [RelativePath: Int32] = [:]
        positions.reserveCapacity(items.count)
        for (position, item) in items.enumerated() where !item.path.isRoot {
            guard !excluding.contains(where: { item.path.isInside($0) }) else { continue }
            positions[item.path] = Int32(position)
        }
        self.positions = positions
    }

    /// What a base turned out to be.
    package enum Finding: Sendable {
        /// The provider has what was acknowledged.
        case same(Int32)
        /// It has something else there. Entangled is another item in the same place, or one that has to go back to its place:
        /// not to be planned without all else that differs.
        case changed(Int32, isEntangled: Bool)
        case missing(RelativePath)
    }

    /// Compares a base; nil where the provider told nothing of its path, or could not.
    package func compare(_ base: TreeBase) -> Finding? {
        let record = base.record
        guard let position = positions[record.path] else {
            return isWhole && !unseen.keeps(record.path) ? .missing(record.path) : nil
        }
        let item = items[Int(position)]
        let isEntangled = !record.mayBe(item) || base.local?.isInTransit == true
        guard isEntangled || !isAcknowledged(item, record) else { return .same(position) }
        return .changed(position, isEntangled: isEntangled)
    }

    /// Whether the planner would find nothing to do about it, were it here as it was acknowledged.
    private func isAcknowledged(_ item: RemoteItem, _ base: BaseRecord) -> Bool {
        guard let name = base.path.name, !base.version.rawValue.isEmpty else { return false }
        let place = Place(.root, name)
        let facts = ItemFacts(base)
        let plan = SyncPlanner.plan(
            base: BaseState(place: place, version: base.version, facts: facts),
            local: LocalState(place: place, content: .asBase, facts: facts),
            remote: RemoteState(
                place: place, version: item.version,
                facts: ItemFacts(item, knowing: base, keepsAttributes: keepsAttributes)))
        return plan.steps.isEmpty
    }
}

/// What of a listing is not as it was acknowledged.
package struct ListingDifference: Sendable {
    private let listing: Listing
    /// Positions in the listing: what is known and changed, and then what is new, parents first.
    private let positions: [Int32]
    private let removed: [RelativePath]
    /// Whether anything may have moved, or be in the way of something else, as something is gone or another than it was. Then
    /// all has to be planned at one time, and anew when some of it is done: a base may be in the place of another by then.
    package let isEntangled: Bool

    /// - Parameter findings: of all bases.
    package init(_ listing: Listing, _ findings: [Listing.Finding]) {
        var isKnown = [Bool](repeating: false, count: listing.items.count)
        var changed: [Int32] = []
        var removed: [RelativePath] = []
        var isEntangled = false
        for finding in findings {
            switch finding {
            case .same(let position): isKnown[Int(position)] = true
            case .changed(let position, let entangles):
                isKnown[Int(position)] = true
                changed.append(position)
                isEntangled = isEntangled || entangles
            case .missing(let path): removed.append(path)
            }
        }
        let added = listing.positions.values.filter { !isKnown[Int($0)] }.sorted {
            listing.items[Int($0)].path.bytes.lexicographicallyPrecedes(listing.items[Int($1)].path.bytes)
        }
        self.listing = listing
        positions = changed + added
        self.removed = removed
        self.isEntangled = isEntangled || !removed.isEmpty
    }

    package var whole: BaseScope {
        BaseScope(changed: positions.map { listing.items[Int($0)] }, removed: removed)
    }

    /// What is not entangled, as parts of so many items each that can be planned one after the other.
    package func parts(of size: Int) -> some Sequence<BaseScope> {
        Array(stride(from: 0, to: positions.count, by: size)).lazy.map {
            part(positions[$0..<min($0 + size, positions.count)])
        }
    }

    /// Some items, and the directories that they are in.
    private func part(_ some: ArraySlice<Int32>) -> BaseScope {
        var members = Set(some)
        var items = some.map { listing.items[Int($0)] }
        for position in some {
            var path = listing.items[Int(position)].path.parent
            while let directory = path, let position = listing.positions[directory], members.insert(position).inserted {
                items.append(listing.items[Int(position)])
                path = directory.parent
            }
        }
        return BaseScope(changed: items, removed: [])
    }
}
