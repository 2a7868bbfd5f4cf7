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
}

/// Brings what changed at the provider here: list, match, plan, apply, and again until nothing is left that can be done.
///
/// One at a time for a container, and never at the same time as a push: a listing older than an own upload would look like
/// somebody's change.
struct PullRound: Sendable {
    let context: SyncContext
    /// The user said that missing items are really gone.
    let deletionsConfirmed: Bool

    private static let longestFixpoint = 40
    private static let mostChangesAlone = 2000

    /// - Parameter cursor: where the last complete pull ended; nil for a whole listing.
    func run(since cursor: ChangeCursor?) async throws -> (result: PullResult, cursor: ChangeCursor?) {
        context.touched.clear()
        let changes = try await context.ask { () throws(ProviderError) in
            try await context.provider.changes(since: cursor)
        }
        let next: ChangeCursor?
        switch changes {
        case .none(let cursor), .everything(_, let cursor), .changes(_, _, let cursor): next = cursor
        }
        if case .none = changes { return (PullResult(), next ?? cursor) }
        let result = try await apply(changes)
        return (result, next)
    }

    private func apply(_ changes: RemoteChanges) async throws -> PullResult {
        var total = PullResult()
        for _ in 0..<Self.longestFixpoint {
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
        _ changes: RemoteChanges, _ total: inout PullResult
    ) async throws -> (units: [TreeUnit], withheld: [TreeUnit]) {
        try await context.index.settle()
        let bases = try await self.bases(for: changes)
        guard let view = RemoteView(changes, bases: bases, excluding: context.container.excluded) else {
            return ([], [])
        }
        let diff = TreeDiff(
            bases: bases, remote: view, keepsAttributes: context.provider.capabilities.attributes)
        var locals: [RelativePath: LocalEntry] = [:]
        for path in diff.wantedLocals {
            if let item = try await context.index.item(drivePath: context.drivePath(path)),
                item.container == context.container.id, item.base == nil
            {
                var entry = item.entry
                entry.path = path
                locals[path] = entry
            }
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
    private func bases(for changes: RemoteChanges) async throws -> [TreeBase] {
        let container = context.container
        if case .changes(let changed, let removed, _) = changes,
            changed.count + removed.count <= Self.mostChangesAlone
        {
            return try await context.index.tree(
                container.id, root: container.root, for: BaseScope(changed: changed, removed: removed))
        }
        return try await context.index.tree(container.id, root: container.root)
    }

    /// Whether so much is gone at once that it may be the provider's mishap, and here may be the only copy: everything, or
    /// at least half of it and more than a thousand items. Deleting a large part of a small drive is ordinary.
    private func isSuspicious(missing: Int) async throws -> Bool {
        guard missing > 10 else { return false }
        let count = try await context.index.baseCount(context.container.id)
        return missing == count || missing > 1000 && missing * 2 >= count
    }
}
