import Glibc
import QuireCore
import QuireCoordination
import Synchronization

/// Programs that are to wait without keeping what others need.
///
/// The kernel has locked the document (and its directory) when it asks to rename over it, to remove it or to cut it short;
/// were that request to wait for an app, the app could not write the document meanwhile. So it is answered ESTALE, once. The
/// kernel then lets go of its locks and walks the path anew. Where it checks permissions itself it asks for the directory's
/// attributes first, which it was made to forget; that request waits in its stead.
///
///     RENAME  ──▶ must wait: ESTALE       locks: both directories, the document
///     GETATTR ──▶ waits for the claim     locks: none
///     LOOKUP                              locks: both directories
///     RENAME  ──▶ has the claim
///
/// Without the kernel's checks (a mount that is root's alone) the first LOOKUP waits: of a directory on the path without a
/// lock, or of the last name with the directory's.
final class PatientRetries: Sendable {
    /// What a thread waits for.
    struct Wish: Sendable {
        let accesses: [Access]
        /// What of them its process does not hold itself.
        let wanted: [Access]
        let process: pid_t

        /// Whether the program's own process holds some of it.
        var isCovered: Bool { wanted.count < accesses.count }

        /// Whether a claim for this is one for `others`: of the same names. A document that came to the target meanwhile, or
        /// went from it, changes what presenters are asked, which they were.
        func isFor(_ others: [Access]) -> Bool {
            accesses.elementsEqual(others) { $0.path == $1.path && $0.isWriting == $1.isWriting }
        }
    }

    /// How it went.
    enum Outcome: Sendable {
        /// It is to wait where it is.
        case unknown
        /// Goes on; nil where the deadline passed and it may all the same.
        case granted(HeldClaim?, isCovered: Bool)
        case failed(DriverError)
    }

    private struct Expected {
        let wish: Wish
        let last: LastComponent
        let number: UInt64
        var hasBegun = false
        var outcome = Outcome.unknown
    }

    private let count = Atomic<Int>(0)
    // Taken alone.
    private let state = Lock<(next: UInt64, entries: [pid_t: Expected])>((0, [:]))
    /// In which the kernel asks for the directory or the first name. Nothing is held meanwhile.
    private static let firstPatience = Duration.seconds(30)
    /// In which it is back, once it has the names.
    private static let patience = Duration.seconds(2)

    /// Whether no thread is expected. One relaxed atomic load.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    /// A thread's request is being answered ESTALE.
    func expect(_ thread: pid_t, _ wish: Wish, _ last: LastComponent) {
        let number = state.withLock { state -> UInt64 in
            state.next += 1
            state.entries[thread] = Expected(wish: wish, last: last, number: state.next)
            count.store(state.entries.count, ordering: .relaxed)
            return state.next
        }
        endLater(thread, number, Self.firstPatience)
    }

    /// The thread asks for a directory or a name: what it is to wait for there. Once.
    func begin(_ thread: pid_t) -> Wish? {
        guard !isEmpty else { return nil }
        return state.withLock { state in
            guard let entry = state.entries[thread], !entry.hasBegun else { return nil }
            state.entries[thread]?.hasBegun = true
            return entry.wish
        }
    }

    /// The thread has waited.
    func finish(_ thread: pid_t, _ outcome: Outcome) {
        let number = state.withLock { state -> UInt64? in
            state.entries[thread]?.outcome = outcome
            return state.entries[thread]?.number
        }
        if let number { endLater(thread, number, Self.patience) }
    }

    /// The thread was told of a name whether it is there. Where its call ends with that, nothing is held for it any longer.
    func note(_ thread: pid_t, _ name: FileName, isThere: Bool) {
        guard !isEmpty else { return }
        // Ends a claim outside of the lock.
        let ended = state.withLock { state -> Expected? in
            guard let entry = state.entries[thread], entry.last.ends(name, isThere: isThere) else { return nil }
            defer { count.store(state.entries.count, ordering: .relaxed) }
            return state.entries.removeValue(forKey: thread)
        }
        withExtendedLifetime(ended) {}
    }

    /// A thread asks for something other than those: its request is back, or its call has ended without and its claim ends.
    ///
    /// - Parameter accesses: none where such a request does not come back.
    /// - Returns: nil where it is a new one.
    func take(_ thread: pid_t, _ accesses: [Access]) -> Outcome? {
        guard !isEmpty, let entry = remove(thread), !accesses.isEmpty else { return nil }
        // Something moved meanwhile: the claim is for other names, and ends with `entry`.
        return entry.wish.isFor(accesses) ? entry.outcome : .unknown
    }

    private func remove(_ thread: pid_t) -> Expected? {
        state.withLock { state in
            defer { count.store(state.entries.count, ordering: .relaxed) }
            return state.entries.removeValue(forKey: thread)
        }
    }

    /// A program that does not come back, because it was killed or its names are gone, holds nobody up.
    private func endLater(_ thread: pid_t, _ number: UInt64, _ patience: Duration) {
        Task { [weak self] in
            // Not cancelled by anybody.
            try? await Task.sleep(for: patience)
            self?.expire(thread, number)
        }
    }

    private func expire(_ thread: pid_t, _ number: UInt64) {
        // Ends a claim outside of the lock.
        let expired = state.withLock { state -> Expected? in
            guard let entry = state.entries[thread], entry.number == number else { return nil }
            // It waits still.
            if entry.hasBegun, case .unknown = entry.outcome { return nil }
            defer { count.store(state.entries.count, ordering: .relaxed) }
            return state.entries.removeValue(forKey: thread)
        }
        withExtendedLifetime(expired) {}
    }
}

/// Where the kernel begins a call anew that was answered ESTALE.
struct Restart: Sendable {
    /// On its paths the last ones, which it locks afterwards.
    let directories: [Node]
    /// What it looks up in them then.
    let last: LastComponent
}
