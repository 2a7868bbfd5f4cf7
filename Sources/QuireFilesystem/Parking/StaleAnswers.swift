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
    private let threads = Lock<Set<pid_t>>([])
    /// Of those who were killed before they came back.
    private static let most = 1024

    /// Whether a thread's request may be answered ESTALE, which it is then. False where the one before was, and forgets that.
    func mayAnswer(_ thread: pid_t) -> Bool {
        threads.withLock { threads in
            defer { count.store(threads.count, ordering: .relaxed) }
            if threads.remove(thread) != nil { return false }
            Self.add(thread, to: &threads)
            return true
        }
    }

    /// A thread's request is being answered ESTALE because there is nothing else to answer: its file is gone altogether. What
    /// the second request finds is taken, too.
    func note(_ thread: pid_t) {
        threads.withLock { threads in
            Self.add(thread, to: &threads)
            count.store(threads.count, ordering: .relaxed)
        }
    }

    private static func add(_ thread: pid_t, to threads: inout Set<pid_t>) {
        if threads.count >= most { threads.removeAll() }
        threads.insert(thread)
    }

    /// The thread's call ends with another answer. One relaxed atomic load while there are none.
    func settle(_ thread: pid_t) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        threads.withLock { threads in
            threads.remove(thread)
            count.store(threads.count, ordering: .relaxed)
        }
    }
}
