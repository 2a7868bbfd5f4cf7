package import Glibc

/// A POSIX mutex with conditions, for threads that wait with a time limit or in several queues. By the monotonic clock.
///
/// State that it guards is touched inside `locked` only, which is where threads wait, too. Innermost lock:
/// nothing that takes another is called while it is held.
package final class ThreadMonitor: @unchecked Sendable {
    // The mutex and the conditions guard themselves; their addresses must not move.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let conditions: UnsafeMutableBufferPointer<pthread_cond_t>

    /// - Parameter conditions: how many queues threads wait in, numbered from 0.
    package init(conditions count: Int = 1) {
        mutex = .allocate(capacity: 1)
        conditions = .allocate(capacity: count)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        for index in conditions.indices { pthread_cond_init(at(index), &attributes) }
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        for index in conditions.indices { pthread_cond_destroy(at(index)) }
        pthread_mutex_destroy(mutex)
        conditions.deallocate()
        mutex.deallocate()
    }

    private func at(_ condition: Int) -> UnsafeMutablePointer<pthread_cond_t> {
        guard let base = conditions.baseAddress else { preconditionFailure("a monitor has at least one condition") }
        return base + condition
    }

    /// Runs `body` alone. Not re-entrant.
    package func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits until signalled; may also return for no reason.
    package func wait(_ condition: Int = 0) { pthread_cond_wait(at(condition), mutex) }

    /// As `wait`. False when `deadline` has passed.
    package func wait(_ condition: Int = 0, until deadline: timespec) -> Bool {
        var deadline = deadline
        return pthread_cond_timedwait(at(condition), mutex, &deadline) != ETIMEDOUT
    }

    /// Wakes one of those who wait; also outside of `locked`, where it has not to wait for the caller then.
    package func signal(_ condition: Int = 0) { pthread_cond_signal(at(condition)) }

    /// Wakes all of them.
    package func broadcast(_ condition: Int = 0) { pthread_cond_broadcast(at(condition)) }

    /// The time that is so many milliseconds from now.
    package static func deadline(milliseconds: Int) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nanoseconds = time.tv_nsec + (milliseconds % 1000) * 1_000_000
        time.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        time.tv_nsec = nanoseconds % 1_000_000_000
        return time
    }
}
