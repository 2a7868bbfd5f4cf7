import QuireCore
import QuireTransport
import Synchronization

/// How many accesses one connection waits for at a time; more wait here, first come, first served.
///
/// The daemon refuses a client that waits for too much at one time. What is asked for inside of an access, or in answer to a
/// question, goes ahead: others wait for that.
final class AccessGate: Sendable {
    private struct State {
        var free: Int
        var next: UInt64 = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    // Taken alone; continuations are resumed outside.
    private let state: Lock<State>

    /// - Parameter width: how many at a time; well below what the daemon answers at a time.
    init(width: Int = WireLimits.requestsPerClient / 2) { state = Lock(State(free: width)) }

    /// Runs `body` when it is its turn.
    ///
    /// - Returns: nil where `handle` was taken back before.
    func pass<Value: Sendable>(
        _ handle: RequestHandle, _ body: () async throws(QuireError) -> Value
    ) async throws(QuireError) -> Value? {
        if AccessScope.current != nil || AccessScope.answering != nil { return try await body() }
        guard await enter(handle) else { return nil }
        defer { leave() }
        return try await body()
    }

    private func enter(_ handle: RequestHandle) async -> Bool {
        let number = state.withLock { state -> UInt64? in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            state.next += 1
            return state.next
        }
        guard let number else { return true }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool? in
                    // Somebody may have left before this one began to wait.
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let isOver { continuation.resume(returning: isOver) }
                handle.whenTakenBack { [self] in giveUp(number) }
            }
        } onCancel: {
            handle.takeBack()
        }
    }

    private func giveUp(_ number: UInt64) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiting.remove(at: index).continuation
        }
        continuation?.resume(returning: false)
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst().continuation }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
