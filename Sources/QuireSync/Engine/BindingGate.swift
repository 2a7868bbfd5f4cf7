import QuireCore
import Synchronization

/// Lets an engine's changes of the store through for as long as its container is kept by one and the same store: what they
/// record is that one's.
final class BindingGate: Sendable {
    private struct State {
        /// See `close`.
        var closings = 0
        var underWay = UnderWay()
    }

    /// Innermost lock: nothing else is taken while it is held; waiters are resumed outside.
    private let state = Lock(State())

    var isClosed: Bool { state.withLock { $0.closings > 0 } }

    /// Runs `body`; nil without running it while the gate is closed.
    func run<Value, Failure: Error>(_ body: () async throws(Failure) -> Value) async throws(Failure) -> Value? {
        let isOpen = state.withLock { state in
            guard state.closings == 0 else { return false }
            state.underWay.begin()
            return true
        }
        guard isOpen else { return nil }
        defer { for waiter in state.withLock({ $0.underWay.end() }) { waiter.resume() } }
        return try await body()
    }

    /// Lets nothing through any more, and returns when what was under way has ended. Each is undone by one `open`.
    func close() async {
        state.withLock { $0.closings += 1 }
        await withCheckedContinuation { waiter in state.withLock { $0.underWay.wait(waiter) }?.resume() }
    }

    func open() { state.withLock { $0.closings -= 1 } }
}
