import Dispatch
import Synchronization

/// Runs blocking work on threads that are not the cooperative pool's, a few at a time, oldest first.
final class WorkPool: Sendable {
    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let queue: DispatchQueue
    private let width: Int
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Mutex(State())

    init(label: String, width: Int) {
        precondition(width > 0, "a pool has at least one thread")
        queue = DispatchQueue(label: label, attributes: .concurrent)
        self.width = width
    }

    /// Runs `body` on a thread of the pool and returns what it returns. It runs to its end, whatever becomes of the task.
    func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: Result { () throws(Failure) -> Value in try body() }) }
        }
        return try result.get()
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        let startsNow = state.withLock { state in
            guard state.running < width else {
                state.waiting.append(job)
                return false
            }
            state.running += 1
            return true
        }
        if startsNow { queue.async { self.work(job) } }
    }

    private func work(_ first: @escaping @Sendable () -> Void) {
        var next: (@Sendable () -> Void)? = first
        while let job = next {
            job()
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.running -= 1
                return nil
            }
        }
    }
}

/// Runs `body` for each element, at most `limit` at a time, and returns what they returned, in no particular order.
func forEach<Element: Sendable, Value: Sendable>(
    _ elements: [Element], limit: Int, _ body: @escaping @Sendable (Element) async -> Value
) async -> [Value] {
    await withTaskGroup(of: Value.self) { group in
        var results: [Value] = []
        var next = elements.makeIterator()
        for _ in 0..<max(1, limit) {
            guard let element = next.next() else { break }
            group.addTask { await body(element) }
        }
        while let value = await group.next() {
            results.append(value)
            if let element = next.next() { group.addTask { await body(element) } }
        }
        return results
    }
}
