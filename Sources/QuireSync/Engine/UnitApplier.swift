import Glibc
import Logging
import QuireCore
import QuireIndex
import QuireStore

/// What became of a unit's steps towards the store.
enum UnitOutcome: Sendable, Hashable {
    /// Something was changed or recorded.
    case done
    /// Nothing was to be done on this side.
    case nothing
    /// The item changed or is in use: next round.
    case later
    /// Something else is at this place (below the container's root); for so long that the user was told.
    case occupied(RelativePath, isTold: Bool = false)
    case failed(SyncFailure)
}

/// Carries out the steps of plans towards the store, and the bookkeeping. Steps towards the provider are the push's.
///
/// Every step is one compare-and-swap on what the plan was made from: a user who was faster wins, and the plan is made anew.
struct UnitApplier: Sendable {
    let context: SyncContext
    /// Directories that this pass has made.
    let made: MadeDirectories

    func apply(_ unit: TreeUnit) async -> UnitOutcome {
        let result: Result<UnitOutcome, SyncFailure>
        do throws(SyncFailure) {
            let unit = unit.plan == [.compare] ? try await compared(unit) : unit
            result = .success(try await followed(withoutEnd(unit)))
        } catch {
            result = .failure(error)
        }
        return await concluded(unit, result)
    }

    /// What came of a unit, told to whoever has to know of it.
    func concluded(_ unit: TreeUnit, _ result: Result<UnitOutcome, SyncFailure>) async -> UnitOutcome {
        let outcome: UnitOutcome
        switch result {
        case .success(let reached):
            outcome = reached
            if outcome == .done, let subject = unit.subject(context.container.id) { await context.unpark(subject) }
        case .failure(let failure): outcome = await failed(unit, failure)
        }
        context.logger.debug(
            "pull", metadata: ["plan": "\(unit.plan.steps)", "unit": "\(unit)", "outcome": "\(outcome)"])
        return await toldWhenStuck(unit, outcome)
    }

    /// What stays in use, or in the way, for long is told.
    private func toldWhenStuck(_ unit: TreeUnit, _ outcome: UnitOutcome) async -> UnitOutcome {
        let path = unit.target ?? unit.local?.path ?? .root
        let message: String
        switch outcome {
        case .later: message = "\(path) is in use or keeps changing; the provider's version waits until it rests"
        case .occupied: message = "something else is in the place of \(path), which the provider has; move it away"
        case .done, .nothing, .failed: return outcome
        }
        guard let subject = unit.subject(context.container.id),
            context.retries.puzzled(subject)
        else { return outcome }
        let failure = SyncFailure(.park, message)
        await context.park(subject, failure)
        if case .occupied(let place, _) = outcome { return .occupied(place, isTold: true) }
        return .failed(failure)
    }

    private func failed(_ unit: TreeUnit, _ failure: SyncFailure) async -> UnitOutcome {
        switch failure.remedy {
        case .offline, .cancelled: return .failed(failure)
        case .look, .later: return .later
        case .park, .parkUntilChanged:
            if let subject = unit.subject(context.container.id) {
                await context.park(subject, failure, unchanged: unit.local)
            }
            return .failed(failure)
        }
    }

    /// Carries out the steps of the unit's plan, until one cannot be.
    private func followed(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        var outcome = UnitOutcome.nothing
        for step in unit.plan.steps {
            let result = try await apply(step, unit)
            guard result == .done || result == .nothing else { return result }
            if result == .done { outcome = .done }
        }
        return outcome
    }

    private func apply(_ step: SyncStep, _ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        switch step {
        case .createLocal: try await createLocal(unit)
        case .updateLocal: try await updateLocal(unit)
        case .applyAttributes: try await applyAttributes(unit)
        case .moveLocal: try await moveLocal(unit)
        case .removeLocal: try await removeLocal(unit)
        case .moveAside: try await moveAside(unit)
        case .adopt: adopt(unit)
        case .followMove: followMove(unit)
        case .forget: forget(unit)
        case .hold: try hold(unit)
        case .upload(let version), .pushAttributes(let version), .deleteRemote(let version): rebase(unit, on: version)
        case .compare, .createRemote, .moveRemote: .nothing
        }
    }
}

// MARK: - towards the store

extension UnitApplier {
    private func createLocal(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        guard let remote = unit.remote, let target = unit.target else { return .nothing }
        guard let directory = made.find(unit.directory) else { return .later }
        guard remote.kind == .directory else {
            return try await place(installation(of: remote, at: target, in: directory), at: target, in: directory)
        }
        // Object stores have no times of directories.
        let mtime = remote.mtime == .unknown ? context.clock.now() : remote.mtime
        let change = LocalChange(
            path: context.drivePath(target), .makeDirectory(mode: Self.mode(remote), mtime: mtime), expecting: .absent,
            base: record(remote), within: directory.inode)
        let result = try await context.commitCoordinated(change)
        if case .done(let status?) = result { made.insert(remote.path, inode: status.inode) }
        return try await outcome(result, at: target, in: directory)
    }

    private func updateLocal(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        guard let remote = unit.remote, let local = unit.local else { return .nothing }
        // What is fetched may be newer than the listing.
        let mode = { (remote: RemoteItem) -> UInt16 in
            let merged = SyncPlanner.mergedMode(
                base: unit.base.map { ItemFacts($0) }, local: local.facts, remote: ItemFacts(remote))
            return merged ?? local.facts.mode ?? Self.defaultMode(remote.kind)
        }
        let isToBeFetched = try await isToBeFetched(remote, local)
        let unit = isToBeFetched || remote.checksum != nil ? try await knowingBase(unit) : unit
        let outcome: UnitOutcome
        if isToBeFetched {
            guard try await isAtRest(local) else { return .later }
            outcome = try await fetch(unit, remote, local, mode: mode)
        } else if Self.isHere(local), let known = contentCameAgain(unit, remote) {
            return try await followed(known)
        } else {
            let expected = LocalChange.Expectation.fingerprint(local.fingerprint)
            outcome = try await keepingSent(unit) { () async throws(SyncFailure) in
                try await place(
                    installation(remote, mode(remote), at: local.path, in: .any, expected), at: local.path, in: .any)
            }
        }
        // What was here of the version before.
        if outcome == .done {
            context.arriving.drop(local.id)
            context.takenUploads.settle(local.id)
        }
        return outcome
    }

    /// Whether what is fetched may take the place of a file: nobody may write to it, and it is as the index knows it. What was changed
    /// behind the driver, as by a program that goes on from before this daemon, is told to the index.
    private func isAtRest(_ local: LocalEntry) async throws(SyncFailure) -> Bool {
        guard !context.committer.isOpenForWriting(inode: local.fingerprint.inode) else { return false }
        let (tree, path) = (context.tree, context.drivePath(local.path))
        let use = try await context.store { () throws(StoreError) in try tree.use(of: path) }
        guard let use, use.status.inode == local.fingerprint.inode else { return true }
        if use.isWritten { return false }
        guard use.status.fingerprint != local.fingerprint else { return true }
        context.index.record(.contentChanged(use.status, writersOpen: false))
        return false
    }

    /// Whether new content comes at once: of what is here, if it is not too large, and of what is pinned, if there is room.
    private func isToBeFetched(_ remote: RemoteItem, _ local: LocalEntry) async throws(SyncFailure) -> Bool {
        guard remote.kind == .file, remote.size > .zero else { return false }
        let isPinned = try await pinned(local.id)
        guard isPinned || Self.isHere(local) && remote.size <= context.settings.refreshLimit else { return false }
        return await context.space.hasRoom(for: remote.size)
    }

    private func pinned(_ id: ItemID) async throws(SyncFailure) -> Bool {
        do { return try await context.index.item(id)?.isPinned ?? false } catch {
            throw SyncFailure(.later, "\(error)")
        }
    }

    /// Brings content here and installs it; of the base's content, come again, only the bookkeeping is done.
    private func fetch(
        _ unit: TreeUnit, _ remote: RemoteItem, _ local: LocalEntry, mode: (RemoteItem) -> UInt16
    ) async throws(SyncFailure) -> UnitOutcome {
        let fetched = try await Downloader(context: context).fetch(
            remote.path, version: remote.version, size: remote.size, owner: local.id,
            known: AnnouncedChange(remote), mode: mode)
        defer { context.staging.discard(fetched.stagedPath) }
        if Self.isHere(local), let known = contentCameAgain(unit, fetched.item) { return try await followed(known) }
        let change = LocalChange(
            path: context.drivePath(local.path), .install(stagedPath: fetched.stagedPath, dataless: false),
            expecting: .fingerprint(local.fingerprint), base: record(fetched.item))
        return try await keepingSent(unit) { () async throws(SyncFailure) in
            try await outcome(try await context.commitCoordinated(change), at: local.path, in: .any)
        }
    }

    private func place(
        _ installation: Installation, at path: RelativePath, in directory: WantedDirectory
    ) async throws(SyncFailure) -> UnitOutcome {
        try await outcome(try await context.install(installation), at: path, in: directory)
    }

    private static func isHere(_ local: LocalEntry) -> Bool {
        if case .dataless = local.content { false } else { true }
    }

    private func applyAttributes(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        guard let remote = unit.remote, let local = unit.local else { return .nothing }
        let mode = SyncPlanner.mergedMode(
            base: unit.base.map { ItemFacts($0) }, local: local.facts, remote: ItemFacts(remote))
        return try await commit(
            local.path, .setAttributes(mode: mode, mtime: remote.mtime), .fingerprint(local.fingerprint),
            record(remote, knowing: unit))
    }

    private func moveLocal(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        guard let local = unit.local, let target = unit.target, let moved = movedBase(unit) else { return .nothing }
        guard let directory = made.find(unit.directory) else { return .later }
        let change = LocalChange(
            path: context.drivePath(local.path), .move(to: context.drivePath(target)),
            expecting: .fingerprint(local.fingerprint), base: moved, within: directory.inode)
        return try await outcome(try await context.commitCoordinated(change), at: target, in: directory)
    }

    private func removeLocal(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        guard let local = unit.local else { return .nothing }
        if let base = unit.base, unit.remote == nil {
            // The listing may be older than what is there now.
            let item = try await context.ask { () throws(ProviderError) in
                try await context.provider.item(at: base.path)
            }
            if let item, Self.isSame(item, base) { return .later }
        }
        let outcome = try await keepingSent(unit) { () async throws(SyncFailure) in
            try await commit(local.path, .remove, .fingerprint(local.fingerprint), nil)
        }
        if outcome == .done { context.arriving.drop(local.id) }
        if outcome == .done { return unit.base == nil ? .done : forget(unit) }
        guard outcome == .later, local.facts.kind == .directory else { return outcome }
        return try await keepNonEmpty(unit, local)
    }

    /// Whether what is at the base's path is the base's item, not another that took its place.
    private static func isSame(_ item: RemoteItem, _ base: BaseRecord) -> Bool {
        guard let there = item.identifier, let known = base.identifier else { return item.kind == base.kind }
        return there == known
    }

    /// A directory that the provider has no more, with something in it that only this device has: it stays. What else is in
    /// it has a plan of its own, and the directory waits for that.
    private func keepNonEmpty(_ unit: TreeUnit, _ local: LocalEntry) async throws(SyncFailure) -> UnitOutcome {
        let path = context.drivePath(local.path)
        let tree = context.tree
        let names = try await context.store { () throws(StoreError) in try tree.list(path).map(\.name) }
        do {
            for name in names {
                // What the index does not know yet is told by an event on its way.
                guard let item = try await context.index.item(drivePath: path.appending(name)) else { return .later }
                if item.base == nil || item.entry.isLocalOnly { return forget(unit) }
            }
        } catch {
            throw SyncFailure(.later, "\(error)")
        }
        return .later
    }

    /// Gives the local version a conflict copy's name beside where it is; it becomes an item of its own.
    private func moveAside(_ unit: TreeUnit) async throws(SyncFailure) -> UnitOutcome {
        guard let local = unit.local else { return .nothing }
        let outcome = try await moveAside(local.path, local.fingerprint)
        if outcome == .done, unit.base != nil { return forget(unit) }
        return outcome
    }

    /// Moves what is at `path` to the next free conflict copy's name.
    func moveAside(_ path: RelativePath, _ fingerprint: Fingerprint) async throws(SyncFailure) -> UnitOutcome {
        guard let parent = path.parent, let name = path.name else { return .nothing }
        let tree = context.tree
        let names = ConflictName.candidates(
            original: name, date: context.clock.today, device: context.settings.deviceName)
        for copy in names {
            let destination = context.drivePath(parent.appending(copy))
            let isTaken = try await context.store { () throws(StoreError) in try tree.status(at: destination) != nil }
            if isTaken { continue }
            return try await commit(path, .move(to: destination), .fingerprint(fingerprint), nil)
        }
        throw SyncFailure(
            .park, "\(path) has \(ConflictName.mostCopies) conflict copies of one day; resolve some of them")
    }

    private func commit(
        _ path: RelativePath, _ operation: LocalChange.Operation, _ expecting: LocalChange.Expectation,
        _ base: BaseRecord?
    ) async throws(SyncFailure) -> UnitOutcome {
        let change = LocalChange(path: context.drivePath(path), operation, expecting: expecting, base: base)
        if case .done = try await context.commitCoordinated(change) { return .done }
        return .later
    }

    /// What became of a change that brings an item to `place`: where it is stale, something may be in the way.
    func outcome(
        _ result: LocalChangeResult, at place: RelativePath, in directory: WantedDirectory
    ) async throws(SyncFailure) -> UnitOutcome {
        switch result {
        case .done: return .done
        case .busy: return .later
        case .stale: break
        }
        guard let parent = place.parent else { return .later }
        let (tree, path, above) = (context.tree, context.drivePath(place), context.drivePath(parent))
        let isOccupied = try await context.store { () throws(StoreError) in
            guard try tree.status(at: path) != nil else { return false }
            guard let wanted = directory.inode else { return true }
            return try tree.status(at: above)?.inode == wanted
        }
        return isOccupied ? .occupied(place) : .later
    }

    static func defaultMode(_ kind: FileKind) -> UInt16 { kind == .directory ? 0o755 : 0o644 }
}

extension TreeUnit {
    /// What the unit is parked under.
    func subject(_ container: ContainerID) -> ParkedSubject? {
        local.map { .item($0.id) } ?? (base?.path ?? remote?.path).map { .base(container, $0) }
    }
}
