import Glibc

/// Runs work that may block, a few pieces at a time, oldest first, on threads that give way to the rest of the process.
///
/// Threads are made when there is work and end after a few idle seconds. Where no thread can be had, the work is done by
/// the ones that are there; where there is none at all, by the caller.
package final class BackgroundPool: @unchecked Sendable {
    // Guarded by `mutex`: everything variable. Innermost lock: nothing is called while it is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
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
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        // Threads hold a reference: there is none any more.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
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
        let startsThread = locked { () -> Bool in
            waiting.append(job)
            if idle > 0 {
                pthread_cond_signal(condition)
                return false
            }
            guard threads < width else { return false }
            threads += 1
            return true
        }
        guard startsThread, OwnedThread(name: label, niceness: niceness, { self.work() }) == nil else { return }
        let isAlone = locked { () -> Bool in
            threads -= 1
            return threads == 0
        }
        if isAlone { while let job = locked({ takeJob() }) { job() } }
    }

    private func work() {
        while let job = locked({ waitForJob() }) { job() }
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
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += Self.idleSeconds
        while true {
            if let job = takeJob() { return job }
            idle += 1
            let result = pthread_cond_timedwait(condition, mutex, &deadline)
            idle -= 1
            if result == ETIMEDOUT, waiting.isEmpty {
                threads -= 1
                return nil
            }
        }
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
