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
            let units = try await plan(changes, &total)
            let pass = try await PullPass(context: context, units: units).run()
            total.applied += pass.applied
            total.left = pass.left
            total.failed = pass.failed
            if pass.applied == 0 { return total }
        }
        total.left += 1
        return total
    }

    /// The units about which something is to be done here.
    private func plan(_ changes: RemoteChanges, _ total: inout PullResult) async throws -> [TreeUnit] {
        try await context.index.settle()
        let bases = try await context.index.tree(context.container.id, root: context.container.root)
        guard let view = RemoteView(changes, bases: bases, excluding: context.container.excluded) else { return [] }
        let diff = TreeDiff(
            bases: bases, remote: view, keepsAttributes: context.provider.capabilities.attributes)
        var locals: [RelativePath: LocalEntry] = [:]
        for path in diff.wantedLocals {
            if let item = try await context.index.item(drivePath: context.drivePath(path)),
                item.container == context.container.id
            {
                var entry = item.entry
                entry.path = path
                locals[path] = entry
            }
        }
        var units = diff.units(localAt: locals)
        units.removeAll { $0.base.map { context.touched.contains($0.path) } ?? false }
        total.held = 0
        if !deletionsConfirmed, Self.isSuspicious(missing: diff.missingAtProvider, of: bases.count) {
            total.held = units.count { $0.plan.steps.contains(.removeLocal) }
            units.removeAll { $0.plan.steps.contains(.removeLocal) }
        }
        return units
    }

    /// Whether so much is gone at once that it may be the provider's mishap, and here may be the only copy: everything, or
    /// at least half of it and more than a thousand items. Deleting a large part of a small drive is ordinary.
    static func isSuspicious(missing: Int, of count: Int) -> Bool {
        missing > 10 && missing == count || missing > 1000 && missing * 2 >= count
    }
}

/// One pass over planned units.
struct PullPass: Sendable {
    let context: SyncContext
    let units: [TreeUnit]

    private let made = MadeDirectories()

    init(context: SyncContext, units: [TreeUnit]) {
        self.context = context
        self.units = units
    }

    private var applier: UnitApplier { UnitApplier(context: context, made: made) }

    private func subject(_ unit: TreeUnit) -> ParkedSubject? { unit.subject(context.container.id) }

    /// Directories first, so that everything has its parent; then moves, after which all is planned anew; then removals,
    /// deepest first; then the rest, in parallel.
    func run() async throws -> PullResult {
        let now = context.clock.now()
        var tried: [TreeUnit] = []
        var failed: Set<ParkedSubject> = []
        for unit in units {
            if let subject = subject(unit), !context.retries.mayTry(subject, unit.local, now: now) {
                failed.insert(subject)
            } else {
                tried.append(unit)
            }
        }
        let ready = try await rescanned(tried)
        var result = PullResult(left: tried.count - ready.count, failed: failed)
        let makesDirectory = ready.filter { $0.plan == [.createLocal] && $0.remote?.kind == .directory }
        let moves = ready.filter { $0.plan.steps.contains(.moveLocal) || $0.plan.steps.contains(.followMove) }
        let removals = ready.filter { $0.plan.steps.contains(.removeLocal) }
        let handled = Set(makesDirectory + moves + removals)
        var occupied: [RelativePath] = []
        for unit in makesDirectory { try note(unit, await applier.apply(unit), &result, &occupied) }
        for unit in moves { try note(unit, await applier.apply(unit.movesOnly), &result, &occupied) }
        if result.applied == 0, !moves.isEmpty { result.applied += try await openRing(moves) ? 1 : 0 }
        // What is to be removed may be in the way of a move.
        if result.applied == 0 || moves.isEmpty {
            try await remove(removals, sparing: moves.compactMap(\.local?.path), &result, &occupied)
        }
        if moves.isEmpty {
            let rest = ready.filter { !handled.contains($0) }
            let applier = applier
            let outcomes = await forEach(rest, limit: context.settings.parallelTransfers) {
                ($0, await applier.apply($0))
            }
            for (unit, outcome) in outcomes { try note(unit, outcome, &result, &occupied) }
        }
        if result.applied == 0 { result.applied += try await clear(occupied) }
        return result
    }

    /// Removes deepest first. A directory stays for now while something in it is to be moved, or could not be removed.
    private func remove(
        _ removals: [TreeUnit], sparing kept: [RelativePath], _ result: inout PullResult,
        _ occupied: inout [RelativePath]
    ) async throws {
        // What stays, with every directory above it.
        var remaining: Set<RelativePath> = []
        func keep(_ path: RelativePath) {
            var current: RelativePath? = path
            while let path = current, remaining.insert(path).inserted { current = path.parent }
        }
        kept.forEach(keep)
        for unit in removals.sorted(by: { $0.depth > $1.depth }) {
            let outcome = await applyRemoval(unit, remaining)
            if outcome != .done, let path = unit.local?.path { keep(path) }
            try note(unit, outcome, &result, &occupied)
        }
    }

    /// A directory in which something could not be removed in this pass waits for the next.
    private func applyRemoval(_ unit: TreeUnit, _ remaining: Set<RelativePath>) async -> UnitOutcome {
        if let path = unit.local?.path, remaining.contains(path) { return .later }
        return await applier.apply(unit)
    }

    private func note(
        _ unit: TreeUnit, _ outcome: UnitOutcome, _ result: inout PullResult, _ occupied: inout [RelativePath]
    ) throws {
        switch outcome {
        case .done: result.applied += 1
        case .nothing: break
        case .later: result.left += 1
        case .occupied(let path):
            result.left += 1
            occupied.append(path)
        case .failed(let failure):
            if failure.remedy == .offline || failure.remedy == .cancelled { throw failure }
            if let subject = subject(unit) { result.failed.insert(subject) }
        }
    }

    /// No remote change is applied in a directory that the rescan has not seen.
    private func rescanned(_ units: [TreeUnit]) async throws -> [TreeUnit] {
        var known: [RelativePath: Bool] = [:]
        var ready: [TreeUnit] = []
        for unit in units {
            let directories = [unit.local?.path.parent, unit.target?.parent].compactMap { $0.map(context.drivePath) }
            var isReady = true
            for directory in Set(directories) {
                if known[directory] == nil {
                    known[directory] = try await context.index.isRescanned(drivePath: directory)
                }
                isReady = isReady && known[directory] == true
            }
            if isReady { ready.append(unit) }
        }
        return ready
    }

    /// Moves that block each other: one goes to a temporary name, and is planned anew from there.
    private func openRing(_ moves: [TreeUnit]) async throws -> Bool {
        let places = Set(moves.filter { $0.plan.steps.contains(.moveLocal) }.compactMap(\.local?.path))
        let blocked = moves.first { unit in
            unit.plan.steps.contains(.moveLocal) && unit.target.map(places.contains) == true
                && unit.local?.isInTransit == false
        }
        guard let unit = blocked, let local = unit.local, let parent = local.path.parent else { return false }
        let change = LocalChange(
            path: context.drivePath(local.path), .move(to: context.drivePath(parent.appending(TransitName.make()))),
            expecting: .fingerprint(local.fingerprint), base: nil)
        if case .done = try await context.commit(change) { return true }
        return false
    }

    /// What stays in the place of something the provider has is moved aside: the provider keeps the name. What is as the
    /// provider had it stays: the listing is older than that, or its removal waits.
    private func clear(_ occupied: [RelativePath]) async throws -> Int {
        var cleared = 0
        for path in occupied {
            guard !units.contains(where: { $0.local?.path == path && $0.plan.freesPlace }),
                let item = try await context.index.item(drivePath: context.drivePath(path)), item.isOwn
            else { continue }
            if try await applier.moveAside(path, item.entry.fingerprint) == .done { cleared += 1 }
        }
        return cleared
    }
}

extension TreeUnit {
    fileprivate var depth: Int { (local?.path ?? target ?? .root).bytes.count { $0 == 0x2F } }

    /// The unit with only the steps that change its place.
    fileprivate var movesOnly: TreeUnit {
        var unit = self
        unit.plan.steps.removeAll { $0 != .moveLocal && $0 != .followMove }
        return unit
    }
}
