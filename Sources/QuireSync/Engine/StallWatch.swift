import QuireCore
import Synchronization

/// Ends transfers of which nothing arrives, with one timer for all of them.
final class StallWatch: Sendable {
    private struct Transfer {
        let news: News
        let end: @Sendable () -> Void
        var isStalled = false
    }

    /// When something of a transfer arrived last, by the machine's uptime: noted without the lock, which all share.
    private final class News: Sendable {
        private let nanoseconds: Atomic<Int64>

        init(_ begun: Duration) { nanoseconds = Atomic(Int64(begun / .nanoseconds(1))) }

        var last: Duration {
            get { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }
            set { nanoseconds.store(Int64(newValue / .nanoseconds(1)), ordering: .relaxed) }
        }
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
        let news = News(clock.uptime())
        let transfer = Task(executorPreference: executor) { await body { news.last = clock.uptime() } }
        let number = state.withLock { state in
            state.next += 1
            state.transfers[state.next] = Transfer(news: news, end: transfer.cancel)
            if state.timer == nil { state.timer = Task { await self.run(deadline, clock) } }
            return state.next
        }
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
                    let idle = now - transfer.news.last
                    pause = min(pause, deadline - idle)
                    guard idle >= deadline else { continue }
                    state.transfers[number]?.isStalled = true
                    ended.append(transfer.end)
                }
                return (ended, pause)
            }
            for end in ended { end() }
            // Of those that come meanwhile none is due before.
            if ended.isEmpty { do { try await clock.sleep(pause) } catch { return } }
        }
    }
}
