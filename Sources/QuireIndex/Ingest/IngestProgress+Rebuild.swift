import QuireCore
import Synchronization

/// How building the index anew stands.
extension IngestProgress {
    /// A new file is there in the place of a damaged one; it is whole after the next whole rescan.
    func rebuildBegan(_ rebuild: IndexRebuild) {
        state.withLock { state in
            state.rebuild = rebuild
            state.foundWhole = nil
        }
        rescanWanted()
        self.rebuild.yield(rebuild)
        tick()
    }

    /// The rebuild that is under way.
    var currentRebuild: IndexRebuild? { state.withLock { $0.rebuild } }

    /// Somebody met damage; whether it is the file's is looked at by the time so many entries are committed.
    func damageSuspected(until count: UInt64) {
        state.withLock { $0.suspectedUntil = max($0.suspectedUntil, count) }
    }

    /// Somebody met damage, and the file was read anew and is whole: it is elsewhere.
    func foundWhole() { state.withLock { $0.foundWhole = .now } }

    /// Whether that was so a moment ago. Later the file may be damaged after all.
    var wasFoundWhole: Bool { state.withLock { $0.foundWhole.map { .now - $0 < .seconds(600) } ?? false } }

    /// Returns when no rebuild is under way, and none is about to begin for damage that was met before the call.
    ///
    /// - Throws: `.failed` when the store could not be read to its end, what keeps the ingest thread from going on.
    func waitUntilWhole() async throws(IndexError) {
        try await wait(for: state.withLock { $0.suspectedUntil }).get()
        guard currentRebuild != nil else { return }
        await waitForRescan()
        guard currentRebuild != nil, let failure = rescan.lastReport?.failure else { return }
        throw IndexError(
            .failed, "the index was damaged and cannot be built anew: \(failure). It is tried again", cause: nil)
    }
}
