import QuireCore
import QuireIndex
import Synchronization

/// Which failed changes wait, and until when. In memory: after a restart everything is tried once.
final class RetryBook: Sendable {
    private struct Entry {
        var backoff = Backoff()
        /// By the machine's uptime.
        var notBefore = Duration.zero
        /// Not tried again while the item is as it was then.
        var unchanged: LocalEntry?
        /// The provider has no room.
        var isFull = false
        /// The provider refused it, as it has something else or does not take it: a pull may find what to do about it.
        var isRefused = false
        /// How often in a row something was not as expected, or in use.
        var puzzles = 0
        /// How often in a row it failed as if the provider were away.
        var absences = 0
        /// Once that was so indeed: a second time it may be what sends the provider away.
        var isExcused = false
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let entries = Lock<[ParkedSubject: Entry]>([:])

    /// Whether the change may be tried now.
    ///
    /// - Parameters:
    ///   - now: the machine's uptime.
    ///   - pulls: by a pull, which what the provider refused waits for.
    func mayTry(_ subject: ParkedSubject, _ local: LocalEntry?, now: Duration, pulls: Bool = false) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[subject], !(pulls && entry.isRefused) else { return true }
            if let unchanged = entry.unchanged { return unchanged != local }
            return now >= entry.notBefore
        }
    }

    /// Whether the change pauses, whatever became of the item.
    ///
    /// - Parameter now: the machine's uptime.
    func isPausing(_ subject: ParkedSubject, now: Duration) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[subject], entry.unchanged == nil else { return false }
            return now < entry.notBefore
        }
    }

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    /// How long until a failed change is tried again, nil for when it changes, and whether it is for want of room.
    ///
    /// - Parameter now: the machine's uptime.
    func retry(of subject: ParkedSubject, now: Duration) -> (pause: Duration?, isFull: Bool)? {
        entries.withLock { entries in
            entries[subject].map { ($0.unchanged == nil ? max(.zero, $0.notBefore - now) : nil, $0.isFull) }
        }
    }

    /// Notes a failure. `unchanged` is set for what only a change of the item can mend, `isFull` where the provider has no
    /// room, `isRefused` where it has something else than was expected, or does not take what it was sent.
    func failed(
        _ subject: ParkedSubject, unchanged: LocalEntry?, isFull: Bool = false, isRefused: Bool = false,
        clock: SyncClock, limit: Duration
    ) {
        let random = clock.random()
        let now = clock.uptime()
        entries.withLock { entries in
            var entry = entries[subject] ?? Entry()
            entry.notBefore = now + entry.backoff.next(limit: limit, random: random)
            entry.unchanged = unchanged
            entry.isFull = isFull
            entry.isRefused = isRefused
            entries[subject] = entry
        }
    }

    /// Notes that the item or the provider was not as expected, or that the item is in use; true when that has happened so
    /// often in a row that the user should know, and a pause is due.
    func puzzled(_ subject: ParkedSubject) -> Bool {
        entries.withLock { entries in
            var entry = entries[subject] ?? Entry()
            entry.puzzles += 1
            entries[subject] = entry
            return entry.puzzles >= 40
        }
    }

    /// Notes a failure that looks as if the provider were away.
    ///
    /// - Returns: whether it may be the item's own: it has failed so before, or another has again and again.
    func isSuspect(_ subject: ParkedSubject) -> Bool {
        entries.withLock { entries in
            var entry = entries[subject] ?? Entry()
            entry.absences += 1
            entries[subject] = entry
            return entries.values.contains { $0.absences > 1 }
        }
    }

    /// The provider was away indeed: what failed once may have done so for that.
    func wasAway() {
        entries.withLock { entries in
            for (subject, entry) in entries where entry.absences == 1 && !entry.isExcused {
                entries[subject]?.absences = 0
                entries[subject]?.isExcused = true
            }
        }
    }

    /// Notes what failed before the daemon was started: it may be tried at once, and is to be taken back like the rest.
    func adopt(_ subjects: some Sequence<ParkedSubject>) {
        entries.withLock { entries in
            for subject in subjects where entries[subject] == nil { entries[subject] = Entry() }
        }
    }

    /// Everything that failed last.
    var subjects: [ParkedSubject] { entries.withLock { Array($0.keys) } }

    /// Whether the last attempt failed as if the provider were away.
    func failedAsIfAway(_ subject: ParkedSubject) -> Bool { entries.withLock { $0[subject]?.absences ?? 0 > 0 } }

    /// Whether that is so of any.
    var hasSuspects: Bool { entries.withLock { $0.values.contains { $0.absences > 0 } } }

    /// Whether the last attempt failed.
    func hasFailed(_ subject: ParkedSubject) -> Bool { entries.withLock { $0[subject] != nil } }

    func succeeded(_ subject: ParkedSubject) -> Bool { entries.withLock { $0.removeValue(forKey: subject) } != nil }

    /// Lets everything be tried at once, what waits for a change of the item because of the provider included: it may take by
    /// now what it refused.
    func forgetPauses() {
        entries.withLock { entries in
            for (key, entry) in entries {
                entries[key]?.notBefore = .zero
                if entry.isRefused { entries[key]?.unchanged = nil }
            }
        }
    }

    /// The earliest time at which a pause ends, by the machine's uptime.
    var nextAttempt: Duration? {
        entries.withLock { $0.values.filter { $0.unchanged == nil && $0.backoff.attempts > 0 }.map(\.notBefore).min() }
    }

    /// Whether something failed so few times yet that it may have been a passing fault. That there is no room is none.
    var hasFreshFailures: Bool {
        entries.withLock {
            $0.values.contains { $0.unchanged == nil && !$0.isFull && (1...2).contains($0.backoff.attempts) }
        }
    }
}
