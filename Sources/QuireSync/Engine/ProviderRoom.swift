import QuireCore
import Synchronization

/// What a provider had no room for lately.
///
/// A document that did not fit is told of and tried again like all that fails. What is as large waits until it is time to
/// try one again: a server that is full would otherwise be sent everything in vain, one document after the other.
final class ProviderRoom: Sendable {
    private struct State {
        /// Documents of this size and more wait; nil where nothing does.
        var from: ByteCount?
        /// By the machine's uptime.
        var until = Duration.zero
        var backoff = Backoff()
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// Whether content of that size may be sent now.
    ///
    /// - Parameter now: the machine's uptime.
    func mayTry(_ size: ByteCount, now: Duration) -> Bool {
        state.withLock { state in
            guard let from = state.from, size >= from else { return true }
            return now >= state.until
        }
    }

    /// Notes that content of that size did not fit.
    func refused(_ size: ByteCount, clock: SyncClock, limit: Duration) {
        let now = clock.uptime()
        let random = clock.random()
        state.withLock { state in
            state.from = min(size, state.from ?? size)
            // Of several that were under way at once one counts.
            guard now >= state.until else { return }
            state.until = now + state.backoff.next(limit: limit, random: random)
        }
    }

    /// Notes that content of that size was taken.
    func fitted(_ size: ByteCount) {
        state.withLock { state in
            if let from = state.from, size >= from { state = State() }
        }
    }

    /// Lets one be tried at once.
    func forgetPause() { state.withLock { $0.until = .zero } }
}
