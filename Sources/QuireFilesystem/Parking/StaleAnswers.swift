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
    private let threads = Lock<[pid_t: FileName?]>([:])
    /// Of those who were killed before they came back.
    private static let most = 1024

    /// Whether a thread's request may be answered ESTALE, which it is then. False where the one before was, and forgets that.
    ///
    /// - Parameter newName: the name that its call makes: that it is not there does not end the call.
    func mayAnswer(_ thread: pid_t, newName: FileName? = nil) -> Bool {
        threads.withLock { threads in
            defer { count.store(threads.count, ordering: .relaxed) }
            if threads.removeValue(forKey: thread) != nil { return false }
            Self.add(thread, newName, to: &threads)
            return true
        }
    }

    /// A thread's request is being answered ESTALE because there is nothing else to answer: its file is gone altogether. What
    /// the second request finds is taken, too.
    func note(_ thread: pid_t) {
        threads.withLock { threads in
            Self.add(thread, nil, to: &threads)
            count.store(threads.count, ordering: .relaxed)
        }
    }

    private static func add(_ thread: pid_t, _ newName: FileName?, to threads: inout [pid_t: FileName?]) {
        if threads.count >= most { threads.removeAll() }
        threads.updateValue(newName, forKey: thread)
    }

    /// The thread's call ends with another answer. One relaxed atomic load while there are none.
    func settle(_ thread: pid_t) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        threads.withLock { threads in
            threads.removeValue(forKey: thread)
            count.store(threads.count, ordering: .relaxed)
        }
    }

    /// The thread asked for a name that is not there: with that its call ends, mostly.
    func settle(_ thread: pid_t, missing name: FileName) {
        guard count.load(ordering: .relaxed) > 0 else { return }
        threads.withLock { threads in
            if let newName = threads[thread], newName == name { return }
            threads.removeValue(forKey: thread)
            count.store(threads.count, ordering: .relaxed)
        }
    }
}
