import Logging
import QuireCore
import QuireIndex
import QuireStore

/// What a pull found and did.
struct PullResult: Sendable, Hashable {
    /// Units that were changed here or recorded.
    var applied = 0
    /// Units left for later: in use, changed meanwhile, in a directory that is not rescanned yet.
    var left = 0
    /// What of those is known by a subject.
    var waiting: Set<ParkedSubject> = []
    /// Units that failed and are parked.
    var failed: Set<ParkedSubject> = []
    /// Deletions held until the user confirms them.
    var held: Set<HeldDeletion> = []
    /// Deletions that the user has confirmed, as far as they were still to be carried out when that was last looked at, and
    /// those of which nothing was told.
    var believed: Set<HeldDeletion> = []
    /// What was held may be elsewhere by now: the next pull lists everything, and believes no deletion then.
    var seeksHeld = false
    /// Something is left as an upload goes on there: what was told of it is to be told again by the next pull.
    var isInTheWay = false
    /// Of one pass: the directories above what was not done, and of those above what is parked, by the places of bases.
    var unfinished = DirectorySet()
    var parked = DirectorySet()

    var isComplete: Bool { isDone && held.isEmpty }

    /// Whether only what is held is not as at the provider.
    var isDone: Bool { left == 0 && failed.isEmpty && !isInTheWay }

    /// Adds what came of another part of a pull.
    mutating func add(_ other: PullResult) {
        applied += other.applied
        left += other.left
        waiting.formUnion(other.waiting)
        failed.formUnion(other.failed)
        held.formUnion(other.held)
        believed.formUnion(other.believed)
        seeksHeld = seeksHeld || other.seeksHeld
        isInTheWay = isInTheWay || other.isInTheWay
    }
}

/// Brings what changed at the provider here: list, compare, and part by part match, plan, apply, and again until nothing is left
/// that can be done.
///
/// One at a time for a container, and never at the same time as a push: a listing older than an own upload would look like
/// somebody's change. Where large uploads go on beside it, it leaves alone what they work at.
struct PullRound: Sendable {
    let context: SyncContext
    /// What the user said was deleted indeed. Whether what is missing beside that can be believed is decided without it.
    let confirmed: Set<HeldDeletion>
    /// What was held before, and is as long as nothing else is told of it.
    var held: Set<HeldDeletion> = []
    /// Whether deletions are held since an earlier pull: by a listing none is believed then that was not confirmed, however much
    /// has come to the provider meanwhile.
    var isHolding = false
    /// Whether the provider tells all that became other than it was at the cursor. Otherwise it may be missing at the provider
    /// although nothing is told of it.
    var isToldAll = false
    /// Where large uploads go on. None begins while this runs.
    var occupied = OccupiedPlaces()
    /// Where the provider could not tell what is there.
    var unseen = UnseenPlaces()
    /// Where it could not tell that the last time, and has nothing now, while there are other such places: what was there may be
    /// in one of those, with a directory that was renamed. No deletion is believed of it that was not confirmed.
    var vanished = UnseenPlaces()

    private let course = RoundCourse()
    private static let longestFixpoint = 40

    /// - Parameters:
    ///   - known: where the last complete pull ended.
    ///   - isWhole: all is to be listed.
    func run(
        since known: ChangeCursor?, isWhole: Bool
    ) async throws -> (result: PullResult, cursor: ChangeCursor?) {
        let cursor = isWhole ? nil : known
        context.touched.clear()
        let changes = try await context.ask { () throws(ProviderError) in
            try await context.provider.changes(since: cursor)
        }
        switch changes {
        case .none(let next):
            context.recentUploads.providerIsSetBack(false)
            var result = PullResult()
            keep(besides: Told(), in: &result)
            return (result, next ?? cursor)
        case .everything(var items, let next):
            let before = Set(context.unseen.all.keys)
            context.unseen.set(items, now: context.clock.now())
            var round = self
            round.unseen = UnseenPlaces(takingFrom: &items)
            let now = Set(context.unseen.all.keys)
            if !now.isSubset(of: before) {
                round.vanished = UnseenPlaces(before.subtracting(now).subtracting(items.lazy.map(\.path)))
            }
            context.recentUploads.look(at: items)
            let setBack = try await setBack(before: known, next)
            round.isHolding = isHolding || setBack != nil
            var result = try await round.apply(round.listing(items, isWhole: true))
            // It may be there, or not, as before.
            result.held.formUnion(held.filter { round.unseen.covers($0.path) })
            result.believed.formUnion(confirmed.filter { round.unseen.covers($0.path) })
            return (result, setBack ?? next)
        case .changes(var changed, var removed, let next):
            // Below what is hidden nothing is known to be gone.
            removed.removeAll { $0.parent.flatMap(context.unseen.place(of:)) != nil }
            // What was left of such a listing is done by the next one.
            context.recentUploads.providerIsSetBack(false)
            context.unseen.add(changed, removed, now: context.clock.now())
            var round = self
            round.unseen = UnseenPlaces(takingFrom: &changed)
            removed.removeAll(where: round.unseen.covers)
            context.recentUploads.look(at: changed)
            round.isHolding = false
            var result = try await round.apply(changed, removed)
            keep(besides: Told(changed, removed), in: &result)
            return (result, next)
        }
    }

    /// Where to go on from, if the provider was set back: then no deletion is believed, and versions are kept of what is replaced.
    private func setBack(
        before known: ChangeCursor?, _ next: ChangeCursor?
    ) async throws(SyncFailure) -> ChangeCursor? {
        var back: ChangeCursor?
        if let known, let next {
            back = try await context.ask { () throws(ProviderError) in
                try await context.provider.setBack(before: known, next: next)
            }
        }
        context.recentUploads.providerIsSetBack(back != nil)
        if back != nil {
            context.logger.warning(
                "the provider is as it was at an earlier time; what is missing there stays here until that is confirmed",
                metadata: ["provider": "\(context.container.providerName)"])
        }
        return back
    }

    private func apply(_ changed: [RemoteItem], _ removed: [RelativePath]) async throws -> PullResult {
        if removed.isEmpty, changed.count > context.settings.pullPart {
            return try await apply(listing(changed, isWhole: false))
        }
        let scope = BaseScope(changed: changed, removed: removed)
        return try await apply(scope) { scope }
    }

    /// What was held or confirmed stays so where nothing was told of it.
    private func keep(besides told: Told, in result: inout PullResult) {
        guard !isToldAll else { return }
        result.held.formUnion(held.filter { !told.contains($0.path) })
        // What is held below a directory that went may have been moved with it: a listing tells.
        if held.contains(where: { told.isGone($0.path) && !result.held.contains($0) }) {
            result.left += 1
            result.seeksHeld = true
        }
        result.believed.formUnion(confirmed.filter { !told.contains($0.path) })
    }

    /// Of which paths a provider told something.
    private struct Told {
        private var places: Set<RelativePath> = []
        /// What is no directory any more has nothing below, either.
        private var gone: Set<RelativePath> = []

        init() {}

        init(_ changed: [RemoteItem], _ removed: [RelativePath]) {
            places = Set(changed.map(\.path))
            gone = Set(removed).union(changed.lazy.filter { $0.kind != .directory }.map(\.path))
        }

        func contains(_ path: RelativePath) -> Bool { places.contains(path) || isGone(path) }

        /// Whether it, or a directory above it, is told to be gone.
        func isGone(_ path: RelativePath) -> Bool { path.isInside(anyOf: gone) }
    }

    private func listing(_ items: [RemoteItem], isWhole: Bool) -> Listing {
        Listing(
            items, isWhole: isWhole, keepsAttributes: context.provider.capabilities.attributes,
            excluding: context.container.excluded, unseen: unseen)
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
            let pass = try await PullPass(context: context, units: units, withheld: withheld, course: course).run()
            total.applied += pass.applied
            total.left = pass.left
            total.waiting = pass.waiting
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
        let view = RemoteView(changes, bases: bases, excluding: context.container.excluded, unseen: unseen)
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
        total.believed = confirmed.isEmpty ? [] : Set(diff.missing.map(HeldDeletion.init)).intersection(confirmed)
        total.held = []
        let holdsRemovals = try await isSuspicious(
            missing: diff.missingAtProvider - total.believed.count, believed: total.believed.count)
        var units: [TreeUnit] = []
        var withheld: [TreeUnit] = []
        let found = diff.units(localAt: locals)
        let inTheWay = occupied.units(of: found)
        total.isInTheWay = !inTheWay.isEmpty
        for (position, unit) in found.enumerated() {
            let isTouched = unit.base.map { context.touched.contains($0.path) } ?? false
            let removal = isTouched ? nil : removal(unit, besides: total.believed)
            let isHeld = removal.map { holdsRemovals || held.contains($0) || vanished.covers($0.path) } ?? false
            // What an upload is in the way of is held all the same.
            if isHeld, let removal { total.held.insert(removal) }
            if isTouched || isHeld || inTheWay.contains(position) { withheld.append(unit) } else { units.append(unit) }
        }
        context.missing.insert(total.held.union(total.believed))
        return (units, withheld)
    }

    /// What a unit removes here that is not believed to be deleted; nil where it removes nothing.
    private func removal(_ unit: TreeUnit, besides believed: Set<HeldDeletion>) -> HeldDeletion? {
        guard unit.plan.steps.contains(.removeLocal), let removal = unit.base.map(HeldDeletion.init) else { return nil }
        return believed.contains(removal) ? nil : removal
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
    /// - Parameter believed: how much more is missing of which the user said that it was deleted: as if that had not been.
    private func isSuspicious(missing: Int, believed: Int) async throws -> Bool {
        if isHolding { return missing > 0 }
        guard missing > 10 else { return false }
        var count = try await context.index.baseCount(context.container.id) - believed
        // What cannot be seen cannot be missing.
        if !unseen.isEmpty {
            let kept = try await context.index.tree(context.container.id, root: context.container.root) {
                [unseen] base in
                unseen.keeps(base.record.path) ? true : nil
            }
            count -= kept.count
        }
        return missing == count || missing > 1000 && missing * 2 >= count
    }
}
