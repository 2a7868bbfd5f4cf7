import Logging
import QuireCore
import QuireStore

extension UnitApplier {
    /// Makes a change that takes away what is here of the unit; what this device has just sent, and the provider has nowhere
    /// (`RecentUploads`), is kept as a version first, which may go when room is short.
    func keepingSent(
        _ unit: TreeUnit, _ change: () async throws(SyncFailure) -> UnitOutcome
    ) async throws(SyncFailure) -> UnitOutcome {
        guard let version = try await keepSent(unit) else { return try await change() }
        // A change that failed may have been made: its version stays.
        let outcome = try await change()
        guard outcome != .done else { return outcome }
        let versions = context.environment.versions
        try await context.store { () throws(StoreError) in try versions.remove(version) }
        return outcome
    }

    /// Where the provider made something else of what this device sent (`ChangeSender.arrived`), the version stays as the others
    /// do; where it is not certain that nobody else wrote that, as long as the user keeps it.
    private func keepSent(_ unit: TreeUnit) async throws(SyncFailure) -> KeptVersions.Version? {
        guard let local = unit.local, local.facts.kind == .file, local.facts.size > 0 else { return nil }
        if case .dataless = local.content { return nil }
        // A conflict copy.
        let isTaken = unit.base == nil && context.takenUploads.isRepeated(local.id)
        guard isTaken || local.content == .asBase && isGone(unit) else { return nil }
        let (path, tree, staging) = (context.drivePath(local.path), context.tree, context.staging)
        let (versions, now) = (context.environment.versions, context.clock.now)
        context.logger.notice(
            "what was uploaded a while ago is at the provider no more; a version of it is kept",
            metadata: ["path": "\(path)"])
        return try await context.store { () throws(StoreError) in
            let snapshot = try Snapshot.take(tree, path, staging: staging, now: now)
            let version = try versions.keep(snapshot, of: local.id, origin: path, now: now())
            if !isTaken { try versions.markDiscardable(version) }
            return version
        }
    }

    /// Whether what this device has sent is nowhere at the provider.
    private func isGone(_ unit: TreeUnit) -> Bool {
        guard let base = unit.base else { return false }
        if let remote = unit.remote, remote.version == base.version, remote.size.bytes != base.size { return true }
        return context.recentUploads.isMissing(
            base.version, isRemoved: unit.remote == nil, now: context.clock.uptime())
    }

    /// The unit planned to get what the provider has, where that has made a conflict copy, too, into something else: another copy
    /// would become one as well, and so on.
    func withoutEnd(_ unit: TreeUnit) -> TreeUnit {
        guard unit.plan == [.moveAside, .createLocal], let local = unit.local, let remote = unit.remote,
            local.facts.kind == .file, remote.kind == .file, unit.base == nil, context.takenUploads.isRepeated(local.id)
        else { return unit }
        var unit = unit
        unit.plan = [.updateLocal]
        return unit
    }
}
