import QuireCore
import Synchronization

/// What this device knows of lock names at a server. Innermost lock.
final class DAVLockNames: Sendable {
    struct State {
        /// Names that are there.
        var known: Set<RelativePath> = []
        /// Locks that were let go, lately.
        var released: [DAVLock] = []
        /// Names of which some were, that have not been looked at since.
        var unverified: Set<RelativePath> = []
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

    /// Locks are about to be let go.
    func released(_ locks: [DAVLock]) {
        state.withLock { state in
            if state.released.count > Self.most { state.released = [] }
            state.released += locks
            state.unverified.formUnion(locks.lazy.map(\.path).filter { $0.parent == DAVLayout.locks })
        }
    }

    /// The names whose locks were let go since the last time.
    func takeUnverified() -> Set<RelativePath> {
        state.withLock { state in
            defer { state.unverified = [] }
            return state.unverified
        }
    }

    /// The lock at `path` that the server tells of, where nobody needs it any more: it was let go, or asked for in
    /// vain.
    ///
    /// nil also for one that was asked for in vain at a server that keeps tokens to itself: it ends by itself.
    func stale(_ told: DAVResource.KnownLock, at path: RelativePath) -> DAVLock? {
        state.withLock { state in
            if let lock = state.released.first(where: { $0.matches(told) }) { return lock }
            guard !told.token.isEmpty, state.lost.contains(told.owner) else { return nil }
            return DAVLock(path: path, isDirectory: true, token: told.token, owner: told.owner)
        }
    }

    var hasLost: Bool { state.withLock { !$0.lost.isEmpty } }

    /// Whether the server tells which locks there are (lockdiscovery, RFC 4918 §15.8), as the probe found.
    var areTold: Bool { state.withLock { $0.areTold } }
}
