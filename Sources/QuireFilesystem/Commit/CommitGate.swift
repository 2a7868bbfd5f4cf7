import CFuse
import Glibc
import QuireCore

/// Keeps the sync engine's compare-and-swap apart from the operations of programs.
///
/// Operations hold it shared, among themselves unhindered; a commit holds it alone, for the few system calls of one
/// compare-and-swap. Outermost lock of the driver; nobody waits for anything else while holding it (no claim, no
/// download, no notification of the kernel, no call through the mount).
final class CommitGate: @unchecked Sendable {
    // The lock guards itself; its address must not move.
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        lock = .allocate(capacity: 1)
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        // A commit must not starve under a stream of requests. No operation takes the gate twice.
        pthread_rwlockattr_setkind_np(&attributes, CInt(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// Runs an operation of a program.
    func shared<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// Whether nobody holds it at this moment: whoever takes it later sees what was written before this was asked.
    var isFree: Bool {
        guard pthread_rwlock_trywrlock(lock) == 0 else { return false }
        pthread_rwlock_unlock(lock)
        return true
    }

    /// Runs a commit, alone.
    func exclusive<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        if !takeSoon() { pthread_rwlock_wrlock(lock) }
        defer { pthread_rwlock_unlock(lock) }
        return try body()
    }

    /// Many commits come at one time, each is a few system calls, and waking a thread takes longer.
    private func takeSoon() -> Bool {
        for _ in 0..<Self.looks {
            if pthread_rwlock_trywrlock(lock) == 0 { return true }
            cfuse_relax(4)
        }
        return false
    }

    /// As many as take 20 µs, at 130 ns each; none where there is one core only.
    private static let looks = SpinWindow(atMost: 20_000).nanoseconds / 130
}
