import QuireCore
import Synchronization

/// What this device knows of lock names at a server. Innermost lock.
final class DAVLockNames: Sendable {
    struct State {
        /// Names that are there.
        var known: Set<RelativePath> = []
        /// Tokens that were let go, lately.
        var released: Set<String> = []
        /// Owners of locks that were asked for, lately, while the answer did not come.
        var lost: Set<String> = []
        var areTold = false
    }

    let state = Lock(State())

    /// Most that is remembered of either kind.
    static let most = 4096

    /// A lock was asked for, and whether it was granted is not known.
    func lost(_ owner: String) {
        state.withLock { state in
            if state.lost.count >= Self.most { state.lost = [] }
            state.lost.insert(owner)
        }
    }

    /// Whether nobody needs the lock any more: it was let go, or asked for in vain.
    func isStale(_ lock: DAVResource.KnownLock) -> Bool {
        state.withLock { $0.released.contains(lock.token) || $0.lost.contains(lock.owner) }
    }

    var hasLost: Bool { state.withLock { !$0.lost.isEmpty } }

    /// Whether the server tells which locks there are (lockdiscovery, RFC 4918 §15.8), as the probe found.
    var areTold: Bool { state.withLock { $0.areTold } }
}
