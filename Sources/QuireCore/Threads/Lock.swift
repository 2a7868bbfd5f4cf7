#if QUIRE_THREAD_SANITIZER
    import Glibc

    /// As `Synchronization.Mutex`, made of a POSIX mutex: the thread sanitizer follows those, and takes every access under
    /// the other for a race. Only `make tsan` builds it.
    package struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        // The mutex guards the value; their addresses must not move.
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        /// A lock around `value`.
        package init(_ value: consuming sending Value) {
            mutex = .allocate(capacity: 1)
            pthread_mutex_init(mutex, nil)
            self.value = .allocate(capacity: 1)
            self.value.initialize(to: value)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        /// Runs `body` alone. Not re-entrant.
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
#else
    package import Synchronization

    /// The lock around short synchronous state: the standard library's, but for the thread sanitizer's build.
    package typealias Lock<Value: ~Copyable> = Mutex<Value>
#endif
