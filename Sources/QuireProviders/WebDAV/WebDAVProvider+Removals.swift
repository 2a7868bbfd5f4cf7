import Logging
import QuireCore

/// Removals of directories that did not come to their end: the server was in trouble, or a device was killed.
///
/// ```
///  MOVE aside ── ✗            what is in memory is looked at before the next listing or deletion,
///                             what is in `.quire/kept` by whoever connects next
///  LOCK ── empty ──────── MOVE to the day's ── UNLOCK
///       └─ not empty ── MOVE back ── UNLOCK
/// ```
/// A device that is at it holds the lock of the directory's name, for which others wait. Two that meet all the same do no
/// harm: nothing is overwritten, and what one of them has moved or deleted is not there for the other.
extension WebDAVProvider {
    /// Makes the place for directories that are deleted, or takes up what is left there.
    func takeUpRemovals() async throws(ProviderError) {
        do throws(ProviderError) {
            guard let found = try await client.propfind(DAVLayout.kept, depth: "1", isDirectory: true) else {
                // Where it is refused it is made by the deletion that needs it.
                _ = try await client.makeCollection(DAVLayout.kept)
                return
            }
            for (aside, _) in found {
                if let path = DAVAside.origin(aside) { removals.note(aside, of: path) }
            }
        } catch {
            if [.unavailable, .cancelled].contains(error.code) { throw error }
            logger.info("what was left of removals cannot be looked into", metadata: ["error": "\(error)"])
        }
        await settleRemovals()
    }

    /// Ends removals that did not come to their end, whatever becomes of the task.
    ///
    /// - Returns: why not, by where the directories were.
    @discardableResult
    func settleRemovals() async -> [RelativePath: ProviderError] {
        let open = removals.takeAll()
        guard !open.isEmpty else { return [:] }
        return await Task {
            var failures: [RelativePath: ProviderError] = [:]
            var hasReturned = false
            for (aside, path) in open {
                do throws(ProviderError) {
                    if try await settle(aside, of: path) { hasReturned = true }
                } catch {
                    logger.info(
                        "what was moved aside is looked at later", metadata: ["path": "\(aside)", "error": "\(error)"])
                    removals.note(aside, of: path)
                    failures[path] = error
                }
            }
            if hasReturned {
                removals.noteReturn()
                if journal?.tellsAttributes != true { try? await feed?.announce(ChangeRecord(nil)) }
            }
            return failures
        }.value
    }

    /// - Returns: whether something was put back.
    private func settle(_ aside: RelativePath, of path: RelativePath) async throws(ProviderError) -> Bool {
        let ending = try await changing([path]) { (confirm) throws(ProviderError) in
            try await confirm()
            return try await self.end(aside, of: path)
        }
        guard ending == .left else { return ending == .returned }
        if let left = try await putBack(aside, to: path) {
            logger.warning(
                "what was moved aside cannot be put back, as its name is taken: move it from there at the server",
                metadata: ["path": "\(left)", "origin": "\(path)"])
        }
        return true
    }
}
