package import QuireCore

/// One step of a plan. The steps of a plan are done in their order; each is conditional on what the plan was made from.
package enum SyncStep: Sendable, Hashable {
    // MARK: towards the provider
    /// Create the local item at the provider, where nothing may be.
    case createRemote
    /// Upload local content and attributes over this version.
    case upload(expecting: ProviderVersion)
    /// Set local mtime and mode at the provider.
    case pushAttributes(expecting: ProviderVersion)
    /// Move the provider's item to the local place.
    case moveRemote
    case deleteRemote(expecting: ProviderVersion)

    // MARK: towards the store
    /// Make the provider's item here, as a placeholder, directory or symlink. Nothing may be in its place.
    case createLocal
    /// Replace the local content, which is the base's, by the provider's.
    case updateLocal
    /// Set the provider's mtime and mode here (merged: what only this device changed stays).
    case applyAttributes
    /// Move the local item to the provider's place.
    case moveLocal
    /// Remove the local item, which is the base's. A directory only if nothing is left in it.
    case removeLocal
    /// Give the local item a conflict copy's name; it becomes an item without a base, to be uploaded.
    case moveAside

    // MARK: bookkeeping
    /// Local and remote are equal: record the provider's state as the base.
    case adopt
    /// The provider's item is where the local one is already, or on its way: record its place, and nothing else, in the base.
    case followMove
    /// The provider has nothing of this any more: drop the base.
    case forget
    /// Equal or not depends on checksums that are not known: find them out and plan again.
    case compare
    /// Nothing can be done: a placeholder whose content the provider does not have. Say so, and keep it.
    case hold

    /// Whether the step changes the provider.
    package var isTowardsProvider: Bool {
        switch self {
        case .createRemote, .upload, .pushAttributes, .moveRemote, .deleteRemote: true
        case .createLocal, .updateLocal, .applyAttributes, .moveLocal, .removeLocal, .moveAside: false
        case .adopt, .followMove, .forget, .compare, .hold: false
        }
    }
}

/// What to do about one item; empty when nothing is to be done.
package struct ItemPlan: Sendable, Hashable, ExpressibleByArrayLiteral {
    package var steps: [SyncStep]

    package init(_ steps: [SyncStep]) { self.steps = steps }
    package init(arrayLiteral elements: SyncStep...) { self.steps = elements }

    /// Whether the local side ends with nothing.
    package var removesLocal: Bool { steps.contains(.removeLocal) && !steps.contains(.createLocal) }

    /// Whether the local item leaves its place, or is replaced there.
    package var freesPlace: Bool { !Set(steps).isDisjoint(with: [.moveLocal, .removeLocal, .moveAside, .updateLocal]) }

    /// Whether what is at its place, here or in what is known of the provider, is not there afterwards, or was not before.
    package var changesPlace: Bool {
        let steps = steps.filter { !$0.isTowardsProvider && $0 != .adopt && $0 != .applyAttributes }
        return !steps.isEmpty
    }

    /// Whether the remote side ends with nothing.
    package var removesRemote: Bool {
        steps.contains { if case .deleteRemote = $0 { true } else { false } } && !steps.contains(.createRemote)
    }
}
