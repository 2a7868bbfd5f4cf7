import QuireCore
import CFuse
import Dispatch
import Glibc
import Synchronization

/// Requests that wait: for a download, a claim, a slow disk. The threads that read requests never do.
///
///     reader ──park──▶ Task (waits, ends early when the program is interrupted) ──▶ queue: the operation ──▶ answer
///
/// An interrupted program is answered EINTR; what it waited for goes on for others who wait.
final class ParkingLot: Sendable {
    private struct Place {
        var task: Task<Void, Never>?
        var interrupted = false
    }

    private struct State {
        var nextTicket: UInt = 1
        var places: [UInt: Place] = [:]
        /// How many requests that wait, or take long, keep a node locked.
        var locked: [UInt64: Int] = [:]
        /// What is to be done once nobody does.
        var onceUnlocked: [UInt64: [@Sendable () -> Void]] = [:]
    }

    private let state = Lock(State())
    private let statistics: RequestStatistics
    /// Where parked operations and slow system calls run.
    private let queue = DispatchQueue(label: "quire.parked", attributes: .concurrent)

    init(statistics: RequestStatistics) { self.statistics = statistics }

    /// How many requests wait now.
    var count: Int { state.withLock { $0.places.count } }

    /// Whether the kernel keeps one of these nodes locked for a request that waits or takes long.
    func keepsLocked(_ nodes: [UInt64]) -> Bool {
        state.withLock { state in !state.locked.isEmpty && nodes.contains { state.locked[$0] != nil } }
    }

    /// Runs `body` once no request that waits, or takes long, keeps a node locked: at once, on the caller's thread, where none
    /// does, else on the one that answered the last.
    ///
    /// A request that is about to wait may lock it at that moment: `body` may wait for the kernel's lock all the same.
    func onceUnlocked(_ node: UInt64, _ body: @escaping @Sendable () -> Void) {
        let isLocked = state.withLock { state in
            guard state.locked[node] != nil else { return false }
            state.onceUnlocked[node, default: []].append(body)
            return true
        }
        if !isLocked { body() }
    }

    private func lock(_ nodes: LockedNodes) {
        guard nodes.first != 0 else { return }
        state.withLock { state in
            state.locked[nodes.first, default: 0] += 1
            if nodes.second != 0 { state.locked[nodes.second, default: 0] += 1 }
        }
    }

    private func unlock(_ nodes: LockedNodes) {
        guard nodes.first != 0 else { return }
        let bodies = state.withLock { state in
            var bodies: [@Sendable () -> Void] = []
            for node in [nodes.first, nodes.second] where node != 0 {
                let left = (state.locked[node] ?? 1) - 1
                state.locked[node] = left > 0 ? left : nil
                if left <= 0 { bodies += state.onceUnlocked.removeValue(forKey: node) ?? [] }
            }
            return bodies
        }
        for body in bodies { body() }
    }

    /// Waits, then performs the operation on a thread that may block.
    ///
    /// - Parameters:
    ///   - wait: ends early by cancellation; its error is the answer.
    ///   - operation: consumes the reply.
    func park(
        _ reply: consuming Reply, until wait: @escaping @Sendable () async throws(DriverError) -> Void,
        then operation: @escaping @Sendable (consuming Reply) -> Void
    ) {
        let ticket = state.withLock { state in
            defer { state.nextTicket += 1 }
            state.places[state.nextTicket] = Place()
            return state.nextTicket
        }
        reply.whenInterrupted(
            { request, data in
                guard let request, let data else { return }
                Driver.of(request).parking.interrupt(UInt(bitPattern: data))
            }, ticket: ticket)
        let box = ReplyBox(reply)
        let request = RequestStatistics.postpone()
        lock(request.locked)
        let task = Task { [self] in
            do throws(DriverError) {
                try await wait()
                leave(ticket)
                queue.async { [self] in
                    guard let reply = box.take() else { return }
                    let before = CallerUmask.enter()
                    RequestStatistics.resume(request)
                    operation(reply)
                    unlock(request.locked)
                    statistics.finishResumed(request)
                    CallerUmask.leave(before)
                }
            } catch {
                leave(ticket)
                box.take()?.error(error.errno)
                unlock(request.locked)
                statistics.finish(request)
            }
        }
        let cancelNow = state.withLock { state in
            state.places[ticket]?.task = task
            return state.places[ticket]?.interrupted ?? false
        }
        if cancelNow { task.cancel() }
    }

    /// Performs an operation that may block for long (fsync, a large copy) away from the readers.
    func offload(_ reply: consuming Reply, _ operation: @escaping @Sendable (consuming Reply) -> Void) {
        let box = ReplyBox(reply)
        let request = RequestStatistics.postpone()
        lock(request.locked)
        queue.async { [self] in
            guard let reply = box.take() else { return }
            RequestStatistics.resume(request)
            operation(reply)
            unlock(request.locked)
            statistics.finishResumed(request)
        }
    }

    /// The program behind `ticket` got a signal. Called by libfuse with locks of its own held: only marks and cancels.
    private func interrupt(_ ticket: UInt) {
        statistics.countInterruption()
        let task = state.withLock { state in
            state.places[ticket]?.interrupted = true
            return state.places[ticket]?.task
        }
        task?.cancel()
    }

    /// Ends all waiting, as at an unmount.
    func interruptAll() {
        let tasks = state.withLock { state in state.places.values.compactMap(\.task) }
        for task in tasks { task.cancel() }
    }

    private func leave(_ ticket: UInt) {
        state.withLock { _ = $0.places.removeValue(forKey: ticket) }
    }
}
