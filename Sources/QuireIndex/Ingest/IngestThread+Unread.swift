import Logging
import QuireCore

/// What of the store could not be looked at is looked at again.
///
/// ```
/// rescan ends ─▶ unread places ─▶ a minute passed, or a directory's attributes changed ─▶ one can be read ─▶ whole rescan
///                                                                                       none can          ─▶ a minute
///                    a mark could not be renewed ─▶ a minute passed ─▶ its directory alone ─▶ it was ─▶ whole rescan
/// ```
extension IngestThread {
    /// Takes over what a rescan could not look at, and tells the user of it.
    func take(_ finished: inout Rescan) {
        for (directory, place) in finished.unread {
            if let before = unread[directory], before.errno == place.errno {
                finished.unread[directory]?.since = before.since
            } else {
                logger.warning(
                    "index: something in the store cannot be looked at",
                    metadata: ["path": "\(place.path)", "error": "\(place.message)"])
            }
        }
        unread = finished.unread
        finished.report.unread = unread.values.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
        progress.setUnread(unread)
        nextLook = Self.monotonic() + unreadPause
        if finished.readsAgain { startWholeRescan(unasked: true) }
    }

    /// Begins a whole rescan when something that could not be looked at can be, once it is time to try.
    func lookAgain() {
        guard !unread.isEmpty, rescan == nil, Self.monotonic() >= nextLook else { return }
        nextLook = Self.monotonic() + unreadPause
        if unread.values.contains(where: canBeRead) { return startWholeRescan(unasked: true) }
        // Whether a mark can be renewed is told by doing it; in a few directories, as on a full disk none may do.
        let unrenewed = unread.filter { $0.value.failure == .renewing && $0.value.cause == $0.value.path }
        suspects.formUnion(unrenewed.keys.shuffled().prefix(16))
    }

    private func canBeRead(_ place: UnreadPlace) -> Bool {
        switch lister.look(at: place.cause) {
        case .nothing: return true
        case .unknown: return false
        case .entry where place.failure == .renewing: return false
        case .entry(let status):
            guard status.kind == .directory else { return true }
            do {
                return try lister.list(place.cause, inode: status.inode)?.unread.isEmpty ?? true
            } catch {
                return false
            }
        }
    }

    /// Whoever changed a directory's attributes may have made it readable.
    func noteAttributes(_ entries: [IngestQueue.Entry]) {
        guard !unread.isEmpty else { return }
        for entry in entries {
            switch entry.work {
            case .event(.attributesChanged(let status, _, _)) where status.kind == .directory: nextLook = 0
            case .event(.committed(let commit)):
                if case .attributes(let status) = commit.change, status.kind == .directory { nextLook = 0 }
            case .event, .arrived, .command: break
            }
        }
        lookAgain()
    }
}
