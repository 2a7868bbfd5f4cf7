import QuireCore
import QuireIndex
import QuireStore

/// What a pull found and did.
struct PullResult: Sendable, Hashable {
    /// Units that were changed here or recorded.
    var applied = 0
    /// Units left for later: in use, changed meanwhile, in a directory that is not rescanned yet.
    var left = 0
    /// Units that failed and are parked.
    var failed: Set<ParkedSubject> = []
    /// Deletions held until the user confirms them.
    var held = 0
    /// Of one pass: the directories above what was not done, and of those above what is parked, by the places of bases.
    var unfinished = DirectorySet()
    var parked = DirectorySet()

    var isComplete: Bool { left == 0 && failed.isEmpty && held == 0 }

    /// Adds what came of another part of a pull.
    mutating func add(_ other: PullResult) {
        applied += other.applied
        left += other.left
        failed.formUnion(other.failed)
        held += other.held
    }
}

/// Brings what changed at the provider here: list, compare, and part by part match, plan, apply, and again until nothing is left
/// that can be done.
///
/// One at a time for a container, and never at the same time as a push: a listing older than an own upload would look like
/// somebody's change.
struct PullRound: Sendable {
    let context: SyncContext
    /// The user said that missing items are really gone.
    let deletionsConfirmed: Bool

    private static let longestFixpoint = 40

    /// - Parameter cursor: where the last complete pull ended; nil for a whole listing.
    func run(since cursor: ChangeCursor?) async throws -> (result: PullResult, cursor: ChangeCursor?) {
        context.touched.clear()
        let changes = try await context.ask { () throws(ProviderError) in
            try await context.provider.changes(since: cursor)
        }
        switch changes {
        case .none(let next): return (PullResult(), next ?? cursor)
        case .everything(let items, let next): return (try await apply(listing(items, isWhole: true)), next)
        case .changes(let changed, let removed, let next):
            if removed.isEmpty, changed.count > context.settings.pullPart {
                return (try await apply(listing(changed, isWhole: false)), next)
            }
            let scope = BaseScope(changed: changed, removed: removed)
            return (try await apply(scope) { scope }, next)
        }
    }

    private func listing(_ items: [RemoteItem], isWhole: Bool) -> Listing {
        Listing(
            items, isWhole: isWhole, keepsAttributes: context.provider.capabilities.attributes,
            excluding: context.container.excluded)
    }

    private func apply(_ listing: Listing) async throws -> PullResult {
        let difference = try await difference(listing)
        if difference.isEntangled {
            return try await apply(difference.whole) { try await self.difference(listing).whole }
        }
        var total = PullResult()
        for part in difference.parts(of: context.settings.pullPart) { total.add(try await apply(part) { part }) }
        return total
    }

    private func difference(_ listing: Listing) async throws -> ListingDifference {
        try await context.index.settle()
        let findings = try await context.index.tree(context.container.id, root: context.container.root) {
            listing.compare($0)
        }
        return ListingDifference(listing, findings)
    }

    /// - Parameter again: what is left to look at after some of it was done.
    private func apply(_ first: BaseScope, again: () async throws -> BaseScope) async throws -> PullResult {
        var total = PullResult()
        var changes = first
        for turn in 0..<Self.longestFixpoint {
            if turn > 0 { changes = try await again() }
            let (units, withheld) = try await plan(changes, &total)
            let pass = try await PullPass(context: context, units: units, withheld: withheld).run()
            total.applied += pass.applied
            total.left = pass.left
            total.failed = pass.failed
            if pass.applied == 0 { return total }
            // Nothing can follow from that: what came new is here, and it was all.
            if pass.applied == units.count, withheld.isEmpty, units.allSatisfy({ $0.plan == [.createLocal] }) {
                return total
            }
        }
        total.left += 1
        return total
    }

    /// The units about which something is to be done here, and those that may not be touched now.
    private func plan(
        _ changes: BaseScope, _ total: inout PullResult
    ) async throws -> (units: [TreeUnit], withheld: [TreeUnit]) {
        try await context.index.settle()
        let bases = try await self.bases(for: changes)
        let view = RemoteView(changes, bases: bases, excluding: context.container.excluded)
        let diff = TreeDiff(
            bases: bases, remote: view, keepsAttributes: context.provider.capabilities.attributes)
        var locals: [RelativePath: LocalEntry] = [:]
        for item in try await context.index.items(drivePaths: diff.wantedLocals.map(context.drivePath)) {
            guard item.container == context.container.id, item.base == nil,
                let path = item.drivePath.removing(ancestor: context.container.root)
            else { continue }
            var entry = item.entry
            entry.path = path
            locals[path] = entry
        }
        let holdsRemovals =
            deletionsConfirmed ? false : try await isSuspicious(missing: diff.missingAtProvider)
        total.held = 0
        var units: [TreeUnit] = []
        var withheld: [TreeUnit] = []
        for unit in diff.units(localAt: locals) {
            let isTouched = unit.base.map { context.touched.contains($0.path) } ?? false
            let isHeld = !isTouched && holdsRemovals && unit.plan.steps.contains(.removeLocal)
            if isHeld { total.held += 1 }
            if isTouched || isHeld { withheld.append(unit) } else { units.append(unit) }
        }
        return (units, withheld)
    }

    /// The bases that a plan for the changes depends on. Of many changes that is mostly all of them, and read faster as a whole.
    private func bases(for changes: BaseScope) async throws -> [TreeBase] {
        let container = context.container
        // A part has its directories with it.
        if changes.changed.count + changes.removed.count <= 2 * context.settings.pullPart {
            return try await context.index.tree(container.id, root: container.root, for: changes)
        }
        return try await context.index.tree(container.id, root: container.root) { $0 }
    }

    /// Whether so much is gone at once that it may be the provider's mishap, and here may be the only copy: everything, or
    /// at least half of it and more than a thousand items. Deleting a large part of a small drive is ordinary.
    private func isSuspicious(missing: Int) async throws -> Bool {
        guard missing > 10 else { return false }
        let count = try await context.index.baseCount(context.container.id)
        return missing == count || missing > 1000 && missing * 2 >= count
    }
}
