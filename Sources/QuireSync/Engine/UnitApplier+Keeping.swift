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

    private func keepSent(_ unit: TreeUnit) async throws(SyncFailure) -> KeptVersions.Version? {
        guard let local = unit.local, let base = unit.base, local.content == .asBase, local.facts.kind == .file,
            local.facts.size > 0,
            context.recentUploads.isMissing(
                base.version, isRemoved: unit.remote == nil, now: context.clock.uptime())
        else { return nil }
        let (path, tree, staging) = (context.drivePath(local.path), context.tree, context.staging)
        let (versions, now) = (context.environment.versions, context.clock.now)
        context.logger.notice(
            "what was uploaded a while ago is at the provider no more; a version of it is kept",
            metadata: ["path": "\(path)"])
        return try await context.store { () throws(StoreError) in
            let snapshot = try Snapshot.take(tree, path, staging: staging, now: now)
            let version = try versions.keep(snapshot, of: local.id, origin: path, now: now())
            try versions.markDiscardable(version)
            return version
        }
    }
}
