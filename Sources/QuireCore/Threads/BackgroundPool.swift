import Glibc

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
    /// Idle threads that were called and are not here yet: each takes a piece. At most `idle`.
    private var called = 0

    private let label: String
    private let width: Int
    private let niceness: Int
    private let threadsGoOn: Bool
    private static let idleSeconds = 5

    /// Which pool a thread is of; nil where the process has no room for it.
    private static let mark: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Whether the calling thread is one of a pool's: where it is, work that blocks needs no other thread.
    package static var isHere: Bool { pool != nil }

    /// Whose thread this is.
    private static var pool: UnsafeMutableRawPointer? { mark.flatMap { pthread_getspecific($0) } }

    /// - Parameters:
    ///   - label: the threads' name, 15 bytes at the most.
    ///   - width: how many pieces at a time; 1 or more.
    ///   - niceness: as for `OwnedThread`.
    ///   - threadsGoOn: a piece that one of the threads submits waits for that thread, which is soon done with the present one,
    ///     and never waits for it: as with tasks that resume one another. Waking another thread costs more than most pieces.
    package init(label: String, width: Int, niceness: Int = 5, threadsGoOn: Bool = false) {
        precondition(width > 0, "a pool has at least one thread")
        self.label = label
        self.width = width
        self.niceness = niceness
        self.threadsGoOn = threadsGoOn
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
        let isOwn = threadsGoOn && Self.pool == Unmanaged.passUnretained(self).toOpaque()
        let help = monitor.locked { () -> Help in
            waiting.append(job)
            return findHelp(own: isOwn ? 1 : 0)
        }
        call(help)
    }

    /// What else is to work on what waits.
    private enum Help { case none, idleThread, newThread }

    /// How many pieces wait.
    private var backlog: Int { waiting.count - next }

    /// - Parameter own: how many pieces the calling thread takes itself.
    private func findHelp(own: Int = 0) -> Help {
        guard backlog > called + own else { return .none }
        if idle > called {
            called += 1
            return .idleThread
        }
        guard threads < width else { return .none }
        threads += 1
        return .newThread
    }

    /// Outside of the lock, which a thread that wakes takes at once.
    private func call(_ help: Help) {
        if help == .idleThread { monitor.signal() }
        guard help == .newThread, OwnedThread(name: label, niceness: niceness, { self.work() }) == nil else { return }
        let isAlone = monitor.locked { () -> Bool in
            threads -= 1
            return threads == 0
        }
        if isAlone { while let job = monitor.locked({ takeJob() }) { job() } }
    }

    private func work() {
        if let mark = Self.mark { pthread_setspecific(mark, Unmanaged.passUnretained(self).toOpaque()) }
        while let (job, help) = monitor.locked({ nextJob() }) {
            call(help)
            job()
        }
    }

    /// What this thread does next, and who is to help with the rest, which it may have kept for itself.
    private func nextJob() -> (job: @Sendable () -> Void, help: Help)? {
        guard let job = waitForJob() else { return nil }
        return (job, threadsGoOn ? findHelp() : .none)
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
            // Whoever leaves, called or not: there is no more to wait for than there are.
            called = max(0, called - 1)
            if !isInTime, waiting.isEmpty {
                threads -= 1
                return nil
            }
        }
    }
}
