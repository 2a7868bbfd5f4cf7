import QuireCore
import Synchronization

/// Files that programs have open for writing: when rounds have seen them change, and what of them was sent.
///
/// They stay dirty until closed. A snapshot is sent of one that rests, and of one that never does after a while; of neither again
/// as long as it is as it was, nor for who asked for all and has had it sent since. In memory: after a restart each is taken to
/// have changed just then.
final class OpenFiles: Sendable {
    private struct File {
        var seen: Fingerprint?
        /// When it was first seen so, and when it was last sent, or was to be; by the machine's uptime.
        var seenAt = Duration.zero
        var triedAt: Duration?
        var sent: Fingerprint?
        /// When it was last taken for who asked for all, and when that was of what arrived.
        var takenAt: Duration?
        var arrivedOf: Duration?
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let files = Lock<[ItemID: File]>([:])
    /// Those that were written while they were last read. Innermost lock, too.
    private let written = Lock<Set<ItemID>>([])

    /// Notes whether a program had it open for writing when its content began to be read. One write(2) may go on while that is read,
    /// and one mapped page may be stored to, without another fingerprint to tell.
    func noteReading(_ item: ItemID, whileWritten isWritten: Bool) {
        written.withLock { written in
            if isWritten { written.insert(item) } else { written.remove(item) }
        }
    }

    /// Whether what was last read of it may have been written meanwhile; says so once.
    func takeWasWritten(_ item: ItemID) -> Bool { written.withLock { $0.remove(item) != nil } }

    /// How long a file is to be left alone yet; nil when a snapshot of it is due.
    ///
    /// - Parameters:
    ///   - now: the machine's uptime.
    ///   - quiet: how long it has to rest.
    ///   - isOverdue: it need not rest any more. It is tried as often as it would be if it did: it may change too fast for that.
    func wait(
        _ item: ItemID, _ present: Fingerprint, now: Duration, quiet: Duration, isOverdue: Bool
    ) -> Duration? {
        let from = files.withLock { files in
            var file = files[item, default: File()]
            if file.seen != present { (file.seen, file.seenAt) = (present, now) }
            files[item] = file
            return isOverdue ? file.triedAt : file.seenAt
        }
        guard let from, now - from < quiet else { return nil }
        return quiet - (now - from)
    }

    /// Notes that it is about to be sent.
    func noteTry(_ item: ItemID, now: Duration) { files.withLock { $0[item]?.triedAt = now } }

    /// Notes that the provider has it as it was.
    func noteSent(_ item: ItemID, _ sent: Fingerprint) { files.withLock { $0[item, default: File()].sent = sent } }

    /// Notes that it is about to be read and sent for who asked for all, though it never rests.
    ///
    /// - Parameter now: the machine's uptime.
    func noteTaken(_ item: ItemID, now: Duration) { files.withLock { $0[item, default: File()].takenAt = now } }

    /// Notes that the provider has what was taken.
    func noteArrived(_ item: ItemID) {
        files.withLock { files in
            if let takenAt = files[item]?.takenAt { files[item]?.arrivedOf = takenAt }
        }
    }

    /// Whether the provider has it as it was at some time after `begin`, of the machine's uptime.
    func hasArrived(_ item: ItemID, since begin: Duration) -> Bool {
        files.withLock { $0[item]?.arrivedOf.map { $0 > begin } ?? false }
    }

    /// Whether the provider has it as it is.
    func isSent(_ item: ItemID, _ present: Fingerprint) -> Bool { files.withLock { $0[item]?.sent == present } }
}
