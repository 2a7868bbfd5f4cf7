import QuireCore
import Synchronization

/// Ends transfers of which nothing arrives, with one timer for all of them.
final class StallWatch: Sendable {
    private struct Transfer {
        /// When something arrived last, by the machine's uptime.
        var last: Duration
        var isStalled = false
        /// There as soon as its task is.
        var end: (@Sendable () -> Void)?
    }

    private struct State {
        var next: UInt64 = 0
        var transfers: [UInt64: Transfer] = [:]
        /// There as long as there are transfers.
        var timer: Task<Void, Never>?
    }

    /// Innermost lock: nothing else is taken while it is held; transfers are ended outside.
    private let state = Lock(State())

    /// Runs a transfer in a task of its own, which is cancelled when nothing arrives for too long, or the caller's is.
    ///
    /// - Parameters:
    ///   - deadline: how long nothing may arrive; the same for all.
    ///   - body: calls what it is given whenever something arrives. Its own result is waited for.
    /// - Returns: with its result, whether it was ended because nothing arrived.
    func watch<Value: Sendable>(
        _ deadline: Duration, _ clock: SyncClock, on executor: PoolExecutor,
        _ body: @escaping @Sendable (_ note: @escaping @Sendable () -> Void) async -> Value
    ) async -> (value: Value, isStalled: Bool) {
        let begun = clock.uptime()
        let number = state.withLock { state in
            state.next += 1
            state.transfers[state.next] = Transfer(last: begun)
            if state.timer == nil { state.timer = Task { await self.run(deadline, clock) } }
            return state.next
        }
        let transfer = Task(executorPreference: executor) {
            await body {
                let now = clock.uptime()
                self.state.withLock { $0.transfers[number]?.last = now }
            }
        }
        state.withLock { $0.transfers[number]?.end = transfer.cancel }
        let value = await withTaskCancellationHandler {
            await transfer.value
        } onCancel: {
            transfer.cancel()
        }
        return (value, end(number))
    }

    private func end(_ number: UInt64) -> Bool {
        let (isStalled, timer) = state.withLock { state in
            let isStalled = state.transfers.removeValue(forKey: number)?.isStalled ?? false
            guard state.transfers.isEmpty else { return (isStalled, Task<Void, Never>?.none) }
            defer { state.timer = nil }
            return (isStalled, state.timer)
        }
        timer?.cancel()
        return isStalled
    }

    private func run(_ deadline: Duration, _ clock: SyncClock) async {
        while !Task.isCancelled {
            let now = clock.uptime()
            let (ended, pause) = state.withLock { state in
                var ended: [@Sendable () -> Void] = []
                var pause = deadline
                for (number, transfer) in state.transfers where !transfer.isStalled {
                    let idle = now - transfer.last
                    pause = min(pause, deadline - idle)
                    guard idle >= deadline, let end = transfer.end else { continue }
                    state.transfers[number]?.isStalled = true
                    ended.append(end)
                }
                return (ended, pause)
            }
            for end in ended { end() }
            // Of those that come meanwhile none is due before.
            if ended.isEmpty { do { try await clock.sleep(pause) } catch { return } }
        }
    }
}
