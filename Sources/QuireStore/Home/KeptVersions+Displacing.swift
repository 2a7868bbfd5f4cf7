package import QuireCore

extension KeptVersions {
    /// Makes a change that takes away what is at a path, and keeps that as a version first.
    ///
    /// The change is made only where the very state that was kept is still there: neither what is saved meanwhile nor
    /// what is dataless, of which there is nothing to keep, is lost. Where it is not made no version stays; a crash in
    /// between leaves one too many. Blocks for as long as the disk takes to copy the document.
    /// - Parameters:
    ///   - operation: `.install`, or `.remove`. Of a directory, which goes only when it is empty, nothing is kept.
    ///   - now: the wall clock, as file times have it.
    /// - Returns: `.stale` also where nothing is there, or nothing that can be kept at this moment.
    /// - Throws: what `Snapshot.take`, `keep` and the committer do. A change that failed may have been made: its
    ///   version stays.
    package func displace(
        _ path: RelativePath, by operation: LocalChange.Operation, item: ItemID, in tree: DriveTree,
        _ committer: any LocalTreeCommitter, now: () -> FileTime = WallClock.now
    ) throws(StoreError) -> LocalChangeResult {
        guard let status = try tree.status(at: path) else { return .stale }
        // Said again by the committer; nothing need be copied for that.
        guard !committer.isOpenForWriting(inode: status.inode) else { return .busy }
        var change = LocalChange(path: path, operation, expecting: .fingerprint(status.fingerprint), base: nil)
        guard status.kind != .directory else { return try make(change, committer) }
        let snapshot: Snapshot
        do throws(StoreError) {
            snapshot = try Snapshot.take(tree, path, staging: staging, now: now)
        } catch {
            guard error.isRetryable || [.dataless, .notFound].contains(error.code) else { throw error }
            return .stale
        }
        change.expecting = .fingerprint(snapshot.fingerprint)
        let version = try keep(snapshot, of: item, origin: path, now: now())
        let result = try make(change, committer)
        if case .done = result { return result }
        try remove(version)
        return result
    }

    private func make(
        _ change: LocalChange, _ committer: any LocalTreeCommitter
    ) throws(StoreError) -> LocalChangeResult {
        do {
            return try committer.commit(change)
        } catch {
            throw StoreError(errno: error.errno, error.operation, error.path.description)
        }
    }
}
