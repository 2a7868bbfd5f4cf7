import Logging
import QuireCore
import QuireIndex
import QuireStore

/// What changes no content: bases recorded, renewed and dropped, and contents compared.
extension UnitApplier {
    func record(_ remote: RemoteItem, knowing unit: TreeUnit? = nil) -> BaseRecord {
        BaseRecord(container: context.container.id, remote, checksum: unit.flatMap { knownChecksum($0, remote) })
    }

    /// The checksum of the remote content, where the base still has it or the local side was compared with it.
    func knownChecksum(_ unit: TreeUnit, _ remote: RemoteItem) -> ContentChecksum? {
        if let checksum = remote.checksum { return checksum }
        if let local = unit.local, local.content == .changed { return local.facts.checksum }
        return unit.base?.version == remote.version ? unit.base?.checksum : nil
    }

    func adopt(_ unit: TreeUnit) -> UnitOutcome {
        guard let remote = unit.remote, let local = unit.local else { return .nothing }
        if let base = unit.base { context.recentUploads.follow(base.version, to: remote.version) }
        context.takenUploads.settle(local.id)
        context.acknowledge(
            local.id, record(remote, knowing: unit), fingerprint: local.fingerprint, known: local.fingerprint)
        return .done
    }

    func followMove(_ unit: TreeUnit) -> UnitOutcome {
        guard let base = unit.base, let moved = movedBase(unit) else { return .nothing }
        // Its path is the same, but of another directory, which has to get there first.
        guard moved != base else { return .later }
        context.recordMoved(moved, from: base.path)
        return .done
    }

    /// The base in its new place: all else is compared afterwards.
    func movedBase(_ unit: TreeUnit) -> BaseRecord? {
        guard let remote = unit.remote, let base = unit.base else { return nil }
        var moved = base
        moved.path = remote.path
        if base.kind != .file || Self.isMovedOnly(remote, from: base) { moved.version = remote.version }
        return moved
    }

    /// Where the provider gives a moved item another version: whether its content is the base's, as checksums tell; where one
    /// is missing, size and time, as long as that is no whole second, which two edits may share.
    private static func isMovedOnly(_ remote: RemoteItem, from base: BaseRecord) -> Bool {
        guard base.size == remote.size.bytes else { return false }
        if let here = base.checksum, let there = remote.checksum { return here == there }
        return base.mtime == remote.mtime && remote.mtime.nanoseconds % 1_000_000_000 != 0
    }

    /// What is to be sent was planned on another version of the same content: the base gets that version, so that the
    /// push's condition holds. What was done to the tags there is done here.
    func rebase(_ unit: TreeUnit, on version: ProviderVersion) -> UnitOutcome {
        guard let remote = unit.remote, let base = unit.base else { return .nothing }
        let isTagged = remote.toldTags.map { $0 != base.tags } ?? false
        guard base.version != version || isTagged else { return .nothing }
        var renewed = BaseRecord(container: context.container.id, remote, checksum: remote.checksum ?? base.checksum)
            .following(base)
        renewed.path = base.path
        context.recordMoved(renewed, from: base.path)
        return .done
    }

    func forget(_ unit: TreeUnit) -> UnitOutcome {
        guard let base = unit.base else { return .nothing }
        context.index.record(.baseRemoved(container: context.container.id, path: base.path))
        return .done
    }

    func hold(_ unit: TreeUnit) throws(SyncFailure) -> UnitOutcome {
        throw .contentIsNowhere(unit.local?.path ?? .root, context.container)
    }

    /// The unit with checksums of both sides, planned anew.
    func compared(_ unit: TreeUnit) async throws(SyncFailure) -> TreeUnit {
        guard var local = unit.local, var remote = unit.remote else { return try await comparedWithBase(unit) }
        if local.facts.checksum == nil || local.facts.kind == .symlink {
            let snapshot = try await snapshot(local)
            guard snapshot.fingerprint == local.fingerprint else {
                throw SyncFailure(.later, "\(local.path) changed meanwhile")
            }
            local.facts.checksum = snapshot.checksum
            if case .symlink(let target) = snapshot.content { local.facts.symlinkTarget = target }
        }
        if remote.checksum == nil, remote.kind == .file {
            remote.checksum = try await Downloader(context: context).checksum(of: remote)
        }
        var unit = unit
        unit.local = local
        unit.remote = remote
        unit.plan = Self.replan(unit)
        return unit
    }

    /// A document that was deleted here, of which the provider has another version: deleted there where that is the base's
    /// content. Else its base goes, and it is a new one, for which its directory stays or is made again.
    private func comparedWithBase(_ unit: TreeUnit) async throws(SyncFailure) -> TreeUnit {
        guard let base = unit.base, let remote = unit.remote else { return unit }
        let checksum = try await Downloader(context: context).checksum(of: remote)
        var unit = unit
        let isSame = checksum != nil && checksum == base.checksum
        unit.plan = isSame ? [.deleteRemote(expecting: remote.version)] : [.forget]
        return unit
    }

    /// Where what was fetched is the base's content, under another version only: the unit planned anew with that, so
    /// that the file here stays with whatever is edited in it meanwhile. Who has it open, or is about to save it, has
    /// missed nothing.
    ///
    /// - Returns: nil where it is other content, or where that is not known.
    func contentCameAgain(_ unit: TreeUnit, _ fetched: RemoteItem) -> TreeUnit? {
        guard unit.local?.content == .asBase, let base = unit.base, let checksum = base.checksum,
            fetched.kind == .file, fetched.size.bytes == base.size, fetched.checksum == checksum
        else { return nil }
        var unit = unit
        unit.remote = fetched
        unit.plan = Self.replan(unit)
        return unit
    }

    /// The unit with the checksum of its base where the content is here and may come again. What came in parts, and could be
    /// compared with nothing, was not read for it, and perhaps not since (`MissingChecksums`).
    ///
    /// As it is where the file cannot be read, which no new content waits for, or is being written, which that does.
    ///
    /// - Throws: where the task was cancelled.
    func knowingBase(_ unit: TreeUnit) async throws(SyncFailure) -> TreeUnit {
        guard let local = unit.local, local.content == .asBase, let base = unit.base, base.checksum == nil,
            let remote = unit.remote, remote.kind == .file, remote.size.bytes == base.size,
            !context.committer.isOpenForWriting(inode: local.fingerprint.inode)
        else { return unit }
        let (tree, path) = (context.tree, context.drivePath(local.path))
        var unit = unit
        do throws(SyncFailure) {
            unit.base?.checksum = try await context.cancellableStore { (isCancelled) throws(StoreError) in
                try MissingChecksums.checksum(path, as: local.fingerprint, in: tree, isCancelled: isCancelled)
            }
            if let found = unit.base?.checksum {
                // The unit may have to wait, and is planned anew then.
                context.index.record(.counted(item: local.id, version: base.version, found))
            }
        } catch {
            guard error.remedy != .cancelled else { throw error }
            context.logger.info(
                "what is here cannot be compared with what comes",
                metadata: ["path": "\(path)", "error": "\(error.message)"])
        }
        return unit
    }

    /// A snapshot's facts; the copy itself is not needed.
    func snapshot(_ local: LocalEntry) async throws(SyncFailure) -> Snapshot {
        let (tree, staging) = (context.tree, context.staging)
        let (path, now) = (context.drivePath(local.path), context.clock.now)
        return try await context.store { () throws(StoreError) in
            let snapshot = try Snapshot.take(tree, path, staging: staging, now: now)
            if case .file(let copy) = snapshot.content { staging.discard(copy) }
            return snapshot
        }
    }

    /// Plans a unit whose place is settled: only content and attributes are compared.
    static func replan(_ unit: TreeUnit) -> ItemPlan {
        guard let local = unit.local, let remote = unit.remote, let name = remote.path.name else { return [] }
        let place = Place(.root, name)
        let plan = SyncPlanner.plan(
            base: unit.base.map { BaseState(place: place, version: $0.version, facts: ItemFacts($0)) },
            local: LocalState(place: place, content: local.content, facts: local.facts),
            remote: RemoteState(place: place, version: remote.version, facts: ItemFacts(remote)))
        return plan.steps.contains(.compare) ? [] : plan
    }
}
