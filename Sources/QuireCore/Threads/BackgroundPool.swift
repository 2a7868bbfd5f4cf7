/// Runs work that may block, a few pieces at a time, oldest first, on threads that give way to the rest of the process.
///
/// Threads are made when there is work and end after a few idle seconds. Where no thread can be had, the work is done by
/// the ones that are there; where there is none at all, by the caller.
package final class BackgroundPool: @unchecked Sendable {
    // Guarded by `monitor`: everything variable.
    private let monitor = ThreadMonitor()
    private var waiting: [@Sendable () -> Void] = []
    private var next = 0
    private var threads = 0
    private var idle = 0

    private let label: String
    private let width: Int
    private let niceness: Int
    private static let idleSeconds = 5

    /// - Parameters:
    ///   - label: the threads' name, 15 bytes at the most.
    ///   - width: how many pieces at a time; 1 or more.
    ///   - niceness: as for `OwnedThread`.
    package init(label: String, width: Int, niceness: Int = 5) {
        precondition(width > 0, "a pool has at least one thread")
        self.label = label
        self.width = width
        self.niceness = niceness
    }

    /// Runs `body` on a thread of the pool and returns what it returns. It runs to its end, whatever becomes of the task.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: Result { () throws(Failure) -> Value in try body() }) }
        }
        return try result.get()
    }

    /// Runs `job` on a thread of the pool, after those submitted before have begun.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        let startsThread = monitor.locked { () -> Bool in
            waiting.append(job)
            if idle > 0 {
                monitor.signal()
                return false
            }
            guard threads < width else { return false }
            threads += 1
            return true
        }
        guard startsThread, OwnedThread(name: label, niceness: niceness, { self.work() }) == nil else { return }
        let isAlone = monitor.locked { () -> Bool in
            threads -= 1
            return threads == 0
        }
        if isAlone { while let job = monitor.locked({ takeJob() }) { job() } }
    }

    private func work() {
        while let job = monitor.locked({ waitForJob() }) { job() }
    }

    private func takeJob() -> (@Sendable () -> Void)? {
        guard next < waiting.count else { return nil }
        let job = waiting[next]
        next += 1
        if next == waiting.count {
            waiting.removeAll(keepingCapacity: next < 1024)
            next = 0
        } else if next >= 1024 {
            waiting.removeFirst(next)
            next = 0
        }
        return job
    }

    /// Nil when nothing came for a while: the thread ends.
    private func waitForJob() -> (@Sendable () -> Void)? {
        let deadline = ThreadMonitor.deadline(milliseconds: Self.idleSeconds * 1000)
        while true {
            if let job = takeJob() { return job }
            idle += 1
            let isInTime = monitor.wait(until: deadline)
            idle -= 1
            if !isInTime, waiting.isEmpty {
                threads -= 1
                return nil
            }
        }
    }
}
