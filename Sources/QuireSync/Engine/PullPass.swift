import Glibc
import QuireCore
import QuireIndex
import QuireStore

/// One pass over planned units.
struct PullPass: Sendable {
    let context: SyncContext
    let units: [TreeUnit]
    /// Not to be touched in this pass.
    let withheld: [TreeUnit]

    private let made = MadeDirectories()
    private let course: RoundCourse
    /// So many are installed at one go. After so many units the index writes what they were, while more is done: what follows
    /// a pass waits for that.
    private static let stretch = 256

    /// - Parameter course: of the whole pull.
    init(context: SyncContext, units: [TreeUnit], withheld: [TreeUnit], course: RoundCourse) {
        self.context = context
        self.course = course
        self.units = units
        self.withheld = withheld
    }

    private var applier: UnitApplier { UnitApplier(context: context, made: made) }

    private func subject(_ unit: TreeUnit) -> ParkedSubject? { unit.subject(context.container.id) }

    /// Directories first, so that everything has its parent; then moves, after which all is planned anew; then, where none could
    /// be made, removals, deepest first, and the rest, in parallel.
    func run() async throws -> PullResult {
        let now = context.clock.uptime()
        var result = PullResult()
        var tried: [TreeUnit] = []
        for unit in units {
            if let subject = subject(unit), !context.retries.mayTry(subject, unit.local, now: now, pulls: true) {
                park(unit, &result)
            } else {
                tried.append(unit)
            }
        }
        let (ready, unseen) = try await rescanned(tried)
        for unit in unseen { if await !parkUnread(unit, &result) { leave(unit, &result) } }
        var untried = result.parked
        for unit in withheld + unseen { untried.insert(above: unit.base?.path) }
        result.unfinished = untried
        let makesDirectory = ready.filter { $0.plan == [.createLocal] && $0.remote?.kind == .directory }
        let moves = ready.filter { $0.plan.steps.contains(.moveLocal) || $0.plan.steps.contains(.followMove) }
        let removals = ready.filter { $0.plan.steps.contains(.removeLocal) }
        let handled = Set(makesDirectory + moves + removals)
        var occupied: [RelativePath] = []
        for unit in makesDirectory { try note(unit, await apply(unit), &result, &occupied) }
        for unit in moves { try note(unit, await apply(unit.movesOnly), &result, &occupied) }
        if result.applied == 0, !moves.isEmpty { result.applied += try await openRing(moves, occupied) ? 1 : 0 }
        // What is to be removed may be in the way of a move.
        if result.applied == 0 || moves.isEmpty {
            try await remove(
                removals, besides: untried, sparing: moves.compactMap(\.local?.path), &result, &occupied)
        }
        if result.applied == 0, !moves.isEmpty { result.applied += try await openRing(removals, at: occupied) ? 1 : 0 }
        // A move may wait for what is to come, and must not hold it up for as long as something is in use.
        if result.applied == 0 || moves.isEmpty {
            let forgotten = ready.filter(\.forgetsDirectory)
            let rest = ready.filter { !handled.contains($0) && !$0.forgetsDirectory }
            for (unit, outcome) in await applied(rest) { try note(unit, outcome, &result, &occupied) }
            try await forget(forgotten, &result, &occupied)
        }
        if result.applied == 0 { result.applied += try await clear(occupied) }
        return result
    }

    /// Carries out, in parallel, what nothing else waits for: first what only has to be installed, many at one go where no
    /// applications coordinate.
    private func applied(_ units: [TreeUnit]) async -> [(TreeUnit, UnitOutcome)] {
        let most = context.settings.parallelTransfers
        // Where they do, each waits for those that present its item, and for no others.
        let isTogether = !context.isCoordinated
        let isInstalled = { (unit: TreeUnit) in isTogether && UnitApplier.isInstallation(unit) }
        let installations = units.filter(isInstalled)
        let stretches = stride(from: 0, to: installations.count, by: Self.stretch).map {
            Array(installations[$0..<min($0 + Self.stretch, installations.count)])
        }
        // More would only wait for each other: what they make lies in one directory.
        let installed = await forEach(stretches, limit: 2) { stretch in
            defer { context.index.writeSoon() }
            return zip(stretch, await applier.installTogether(stretch)).map { ($0, $1) }
        }
        let others = inOrder(units.filter { !isInstalled($0) })
        let applied = await forEach(others.enumerated(), limit: { course.parallelism(most) }) { number, unit in
            if number % Self.stretch == Self.stretch - 1 { context.index.writeSoon() }
            return (unit, await apply(unit))
        }
        return installed.flatMap { $0 } + applied
    }

    /// First what asks the provider for nothing, last what it did not give before.
    private func inOrder(_ units: [TreeUnit]) -> [TreeUnit] {
        let asking = units.filter(Self.mayAsk)
        guard !asking.isEmpty else { return units }
        let isSuspect = { (unit: TreeUnit) in subject(unit).map(context.retries.hasFailed) ?? false }
        return units.filter { !Self.mayAsk($0) } + asking.filter { !isSuspect($0) } + asking.filter(isSuspect)
    }

    /// Whether content may be fetched for it. What is new is a placeholder at first.
    private static func mayAsk(_ unit: TreeUnit) -> Bool {
        unit.plan.steps.contains { [.updateLocal, .compare].contains($0) }
    }

    /// Whether the provider was asked for content where that was done.
    private func hasAsked(_ unit: TreeUnit) -> Bool {
        guard Self.mayAsk(unit), let local = unit.local else { return false }
        if case .dataless = local.content { return false }
        return unit.remote.map { $0.size <= context.settings.refreshLimit } ?? false
    }

    private static func kind(_ unit: TreeUnit) -> RoundCourse.Kind {
        if mayAsk(unit) { return .content }
        // The provider is asked whether it is gone.
        return unit.plan.steps.contains(.removeLocal) ? .deletion : .structure
    }

    /// Carries out a step, unless the provider turned out to be gone.
    private func apply(_ unit: TreeUnit) async -> UnitOutcome {
        if let failure = course.end { return .failed(failure) }
        let kind = Self.kind(unit)
        if kind != .structure, course.isResting(kind) { return .failed(Self.untried) }
        let outcome = await applier.apply(unit)
        guard case .failed(let failure) = outcome else {
            if outcome == .done, kind == .deletion || hasAsked(unit) { course.succeeded(kind) }
            return outcome
        }
        if failure.remedy == .park, failure.errno == ETIMEDOUT { course.noteAbsence(kind) }
        guard failure.remedy == .offline else { return outcome }
        if let subject = subject(unit), let own = await context.parkSuspect(subject, failure, course) {
            course.noteAbsence(kind)
            return .failed(own)
        }
        course.stop(failure)
        return outcome
    }

    private static let untried = SyncFailure(.park, "left for later: the provider sent nothing of several others")

    /// Drops the bases of directories that the provider has no longer, deepest first, each with what is below it: later than
    /// what else the provider has no longer. A document without its base would be taken for new.
    private func forget(
        _ directories: [TreeUnit], _ result: inout PullResult, _ occupied: inout [RelativePath]
    ) async throws {
        for unit in directories.sorted(by: { $0.baseDepth > $1.baseDepth }) {
            let waits = result.unfinished.contains(unit.base?.path)
            let outcome = waits ? waiting(unit, result) : await apply(unit)
            try note(unit, outcome, &result, &occupied)
        }
    }

    /// Removes deepest first. A directory stays for now while something in it is to be moved, or could not be removed, by its
    /// place here or by that of its base.
    ///
    /// - Parameters:
    ///   - untried: the directories above what was not tried in this pass, by the places of bases.
    ///   - kept: what is to be moved.
    private func remove(
        _ removals: [TreeUnit], besides untried: DirectorySet, sparing kept: [RelativePath],
        _ result: inout PullResult, _ occupied: inout [RelativePath]
    ) async throws {
        guard !removals.isEmpty else { return }
        try await noteRemovals(removals)
        defer { context.index.record(.removing(container: context.container.id, paths: [])) }
        var unfinished = untried
        var remaining = DirectorySet()
        for path in kept { remaining.insert(above: path) }
        for unit in removals.sorted(by: { $0.depth > $1.depth }) {
            let waits = remaining.contains(unit.local?.path) || unfinished.contains(unit.base?.path)
            let outcome = waits ? waiting(unit, result) : await apply(unit)
            if outcome != .done {
                remaining.insert(above: unit.local?.path)
                unfinished.insert(above: unit.base?.path)
            }
            try note(unit, outcome, &result, &occupied)
        }
    }

    /// Makes durable that what is about to be missing here was not deleted by the user: a daemon that ends right after it has
    /// removed something has not recorded that yet.
    private func noteRemovals(_ removals: [TreeUnit]) async throws {
        let gone = removals.compactMap { $0.base?.path }
        guard !gone.isEmpty else { return }
        context.index.record(.removing(container: context.container.id, paths: gone))
        try await context.index.settle()
    }

    /// Of a directory that something in it keeps: where that is parked, nobody waits for this one, either.
    private func waiting(_ unit: TreeUnit, _ result: PullResult) -> UnitOutcome {
        result.parked.contains(unit.base?.path) ? .nothing : .later
    }

    private func note(
        _ unit: TreeUnit, _ outcome: UnitOutcome, _ result: inout PullResult, _ occupied: inout [RelativePath]
    ) throws {
        if outcome != .done, outcome != .nothing { result.unfinished.insert(above: unit.base?.path) }
        switch outcome {
        case .done: result.applied += 1
        case .nothing: break
        case .later: leave(unit, &result)
        case .occupied(let path, let isTold):
            occupied.append(path)
            if isTold { park(unit, &result) } else { leave(unit, &result) }
        case .failed(let failure):
            if failure.remedy == .offline || failure.remedy == .cancelled { throw failure }
            park(unit, &result)
        }
    }

    private func leave(_ unit: TreeUnit, _ result: inout PullResult) {
        result.left += 1
        if let subject = subject(unit) { result.waiting.insert(subject) }
    }

    private func park(_ unit: TreeUnit, _ result: inout PullResult) {
        if let subject = subject(unit) { result.failed.insert(subject) }
        result.parked.insert(above: unit.base?.path)
    }

    /// No remote change is applied in a directory that the rescan has not seen.
    private func rescanned(_ units: [TreeUnit]) async throws -> (ready: [TreeUnit], unseen: [TreeUnit]) {
        var known: [RelativePath: Bool] = [:]
        var ready: [TreeUnit] = []
        var unseen: [TreeUnit] = []
        for unit in units {
            let directories = Self.directories(of: unit).map(context.drivePath)
            var isReady = true
            for directory in Set(directories) {
                if known[directory] == nil {
                    known[directory] = try await context.index.isRescanned(drivePath: directory)
                }
                isReady = isReady && known[directory] == true
            }
            if isReady { ready.append(unit) } else { unseen.append(unit) }
        }
        return (ready, unseen)
    }

    /// Tells why nothing is done to what lies in, or is to come to, a directory that the rescan could not look at: it is tried
    /// again with growing pauses.
    ///
    /// - Returns: false where the rescan is only not there yet.
    private func parkUnread(_ unit: TreeUnit, _ result: inout PullResult) async -> Bool {
        let places = context.index.unreadPlaces()
        let directories = Self.directories(of: unit).map(context.drivePath)
        guard let subject = subject(unit), let place = places.first(where: { directories.contains(where: $0.covers) })
        else { return false }
        await context.park(subject, SyncFailure(.park, "\(place.path): \(place.message)"))
        park(unit, &result)
        return true
    }

    /// Where the unit lies here, and where it is to lie.
    private static func directories(of unit: TreeUnit) -> [RelativePath] {
        [unit.local?.path.parent, unit.target?.parent].compactMap(\.self)
    }

    /// Moves that block each other: what is in the place of another goes to a temporary name, and is planned anew from there.
    /// So does what waits for its directory, where that is to take its place, or to be made there.
    private func openRing(_ moves: [TreeUnit], _ occupied: [RelativePath]) async throws -> Bool {
        let moves = moves.filter { $0.plan.steps.contains(.moveLocal) }
        let wanted = Set(moves.compactMap(\.target) + occupied)
        let blocking = moves.compactMap(\.local).filter { wanted.contains($0.path) && !$0.isInTransit }
        guard let local = blocking.first(where: { occupied.contains($0.path) }) ?? blocking.first else { return false }
        return try await putOnItsWay(local)
    }

    /// A directory that goes, in the place of another, with something in it that waits to be moved into that one.
    private func openRing(_ removals: [TreeUnit], at occupied: [RelativePath]) async throws -> Bool {
        let blocking = removals.compactMap(\.local).first {
            $0.facts.kind == .directory && occupied.contains($0.path) && !$0.isInTransit
        }
        guard let blocking else { return false }
        return try await putOnItsWay(blocking)
    }

    private func putOnItsWay(_ local: LocalEntry) async throws -> Bool {
        guard let parent = local.path.parent else { return false }
        let change = LocalChange(
            path: context.drivePath(local.path), .move(to: context.drivePath(parent.appending(TransitName.make()))),
            expecting: .fingerprint(local.fingerprint), base: nil)
        if case .done = try await context.commit(change) { return true }
        return false
    }

    /// What stays in the place of something the provider has is moved aside: the provider keeps the name. What is as the
    /// provider had it stays: the listing is older than that, or its removal waits. A directory that the provider has no
    /// longer, and which something in it keeps, is no such thing: what keeps it may be waiting for its place.
    private func clear(_ occupied: [RelativePath]) async throws -> Int {
        var cleared = 0
        for path in occupied {
            let unit = units.first { $0.local?.path == path }
            guard unit?.plan.freesPlace != true,
                let item = try await context.index.item(drivePath: context.drivePath(path)),
                item.isOwn || unit?.forgetsDirectory == true
            else { continue }
            if try await applier.moveAside(path, item.entry.fingerprint) == .done { cleared += 1 }
        }
        return cleared
    }
}

extension TreeUnit {
    fileprivate var depth: Int { (local?.path ?? target ?? .root).depth }

    fileprivate var baseDepth: Int { base?.path.depth ?? 0 }

    /// Whether the base of a directory, and with it all below, is dropped and nothing else is done here.
    fileprivate var forgetsDirectory: Bool {
        base?.kind == .directory && plan.steps.contains(.forget) && !plan.removesLocal
    }

    /// The unit with only the steps that change its place.
    fileprivate var movesOnly: TreeUnit {
        var unit = self
        unit.plan.steps.removeAll { $0 != .moveLocal && $0 != .followMove }
        return unit
    }
}
