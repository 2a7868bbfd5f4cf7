import Synchronization
import QuireCore

/// What the server was still at work on after it had been waited for (425), some of which never ends: listings do not wait for it
/// again.
final class DAVEarly: Sendable {
    /// Hrefs. Innermost lock: nothing else is taken while it is held.
    private let state = Lock<Set<String>>([])

    /// Whether a listing that has these is to wait for one of them.
    func isWaitedFor(_ early: [DAVResource]) -> Bool {
        let hrefs = Set(early.map(\.href))
        return state.withLock { !hrefs.isSubset(of: $0) }
    }

    /// Takes what a listing has told: of these in vain, and of the others that it is done.
    func note(_ early: [DAVResource], of resources: [DAVResource]) {
        state.withLock { state in
            if !state.isEmpty { for resource in resources { state.remove(resource.href) } }
            for resource in early { state.insert(resource.href) }
        }
    }
}
