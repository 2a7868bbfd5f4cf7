import QuireCore
import Synchronization

/// Directories that were moved aside, and of which nobody knows yet whether something came into them.
final class DAVRemovals: Sendable {
    private struct State {
        /// Where they were, by where they are.
        var open: [RelativePath: RelativePath] = [:]
        var hasReturned = false
        var day: RelativePath?
    }

    /// Innermost lock.
    private let state = Lock(State())

    /// A removal did not come to its end.
    func note(_ aside: RelativePath, of path: RelativePath) { state.withLock { $0.open[aside] = path } }

    /// Those that are open; whoever takes them ends them, or notes them again.
    func takeAll() -> [RelativePath: RelativePath] {
        state.withLock { state in
            defer { state.open = [:] }
            return state.open
        }
    }

    /// The day's collection that was made last; nil where none is known to be there.
    var day: RelativePath? {
        get { state.withLock { $0.day } }
        set { state.withLock { $0.day = newValue } }
    }

    /// Something was put back, which nobody has asked for at this moment.
    func noteReturn() { state.withLock { $0.hasReturned = true } }

    /// Whether that was so since the last time.
    func takeReturns() -> Bool {
        state.withLock { state in
            defer { state.hasReturned = false }
            return state.hasReturned
        }
    }
}
