import Glibc
import QuireCore
import Synchronization

/// Threads whose request was answered ESTALE: the kernel looks the path up anew for them and asks once more. A second ESTALE
/// would reach the program, so the second request takes what it has found.
///
/// Callable on any thread.
final class StaleAnswers: Sendable {
    private let count = Atomic<Int>(0)
    // Taken alone.
    private let threads = Lock<[pid_t: LastComponent]>([:])
    /// Of those who were killed before they came back.
    private static let most = 1024

    /// Whether a thread's request may be answered ESTALE, which it is then. False where the one before was, and forgets that.
    ///
    /// - Parameter last: the last component of its call's path.
    func mayAnswer(_ thread: pid_t, _ last: LastComponent = .present) -> Bool {
        threads.withLock { threads in
            defer { count.store(threads.count, ordering: .relaxed) }
            if threads.removeValue(forKey: thread) != nil { return false }
            Self.add(thread, last, to: &threads)
            return true
        }
    }

    /// A thread's request is being answered ESTALE because there is nothing else to answer: its file is gone altogether. What
    /// the second request finds is taken, too.
    func note(_ thread: pid_t) {
        threads.withLock { threads in
            Self.add(thread, .present, to: &threads)
            count.store(threads.count, ordering: .relaxed)
        }
    }

    private static func add(_ thread: pid_t, _ last: LastComponent, to threads: inout [pid_t: LastComponent]) {
        if threads.count >= most { threads.removeAll() }
        threads[thread] = last
    }

    /// The thread's call ends with another answer. One relaxed atomic load while there are none.
    func settle(_ thread: pid_t) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        threads.withLock { threads in
            threads.removeValue(forKey: thread)
            count.store(threads.count, ordering: .relaxed)
        }
    }

    /// The thread was told of a name whether it is there, with which its call may end.
    func settle(_ thread: pid_t, _ name: FileName, isThere: Bool) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        threads.withLock { threads in
            guard threads[thread]?.ends(name, isThere: isThere) == true else { return }
            threads.removeValue(forKey: thread)
            count.store(threads.count, ordering: .relaxed)
        }
    }
}
