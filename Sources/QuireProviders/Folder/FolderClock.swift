import CLinux
import Glibc
import QuireCore

/// What time it is by the clock that stamps a folder's files: this machine's, or a file server's, which may be a day off.
///
/// Known from a file that was made there. From then on two guesses count: by this machine's clock, which is right for its
/// own disks also when somebody sets it, and by how long it has run, which is right for servers. A server's clock that is set
/// is known with the next file.
struct FolderClock: Sendable {
    /// This machine's clocks, in nanoseconds.
    struct Moment: Sendable {
        var wall: Int64
        /// Since the machine was started, suspended or not.
        var uptime: Int64

        static func now() -> Moment {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Moment(
                wall: SystemCalls.now().nanoseconds,
                uptime: FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec).nanoseconds)
        }
    }

    private let stamp: Int64
    private let taken: Moment
    private let error: Int64

    /// Clocks that nobody sets drift apart by a second in three hours at most.
    private static let drift: Int64 = 10_000

    /// This machine's.
    init() {
        taken = .now()
        (stamp, error) = (taken.wall, 0)
    }

    /// - Parameter stamp: what a file got that was written between two moments.
    init(stamp: FileTime, between before: Moment, and after: Moment) {
        self.stamp = stamp.nanoseconds
        taken = after
        error = after.uptime - before.uptime
    }

    /// Whether the guesses have become vague since then: what happened just now cannot be told from what did a while ago.
    func isVague(at moment: Moment, granularity: Int64) -> Bool { vagueness(moment) - error > granularity / 4 }

    /// Whether a file may be written again without its mtime changing.
    ///
    /// A time to come is not racy: the next write gets another one.
    ///
    /// - Parameters:
    ///   - since: before its facts were taken.
    ///   - until: after that.
    func isRacy(_ mtime: FileTime, since: Moment, until: Moment, granularity: Int64) -> Bool {
        zip(guesses(since), guesses(until)).contains { first, last in
            first.time - first.vagueness - granularity < mtime.nanoseconds
                && mtime.nanoseconds < last.time + last.vagueness + granularity
        }
    }

    /// How long it takes until a write could no longer leave `mtime` as it is, in nanoseconds; at most twice `granularity`.
    func timeToSettle(_ mtime: FileTime, at moment: Moment, granularity: Int64) -> Int64 {
        guard isRacy(mtime, since: moment, until: moment, granularity: granularity) else { return 0 }
        let times = guesses(moment).map { $0.vagueness + granularity - ($0.time &- mtime.nanoseconds) }
        let time = times.filter { $0 <= 2 * (granularity + vagueness(moment)) }.max() ?? 0
        // The guess is vaguer by then.
        return min(2 * granularity, time + time / Self.drift * 2 + 1)
    }

    private func vagueness(_ moment: Moment) -> Int64 { error + max(0, moment.uptime - taken.uptime) / Self.drift }

    private func guesses(_ moment: Moment) -> [(time: Int64, vagueness: Int64)] {
        [
            (stamp &+ (moment.wall - taken.wall), error),
            (stamp &+ (moment.uptime - taken.uptime), vagueness(moment)),
        ]
    }
}

extension FolderClock {
    /// Finds out by making a file in the folder; nil where that fails, as for lack of rights.
    init?(_ session: borrowing FolderSession) {
        let (directory, name) = (session.temporary.descriptor, FolderLayout.stagingName())
        let before = Moment.now()
        guard let file = try? SystemCalls.open(at: directory, name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) else {
            return nil
        }
        defer { try? SystemCalls.unlink(at: directory, name) }
        // The times of a new file may be this machine's until the server has written something. Where it has no room, that is all
        // there is.
        do throws(SystemFailure) {
            try ContentCopy.write([0x0A], to: file.descriptor)
            try SystemCalls.sync(file.descriptor)
        } catch {
            guard [ENOSPC, EDQUOT].contains(error.code) else { return nil }
        }
        guard let stamp = try? SystemCalls.status(of: file.descriptor).mtime else { return nil }
        self.init(stamp: stamp, between: before, and: .now())
    }

    /// The time at which this was found.
    var found: FileTime { FileTime(nanoseconds: stamp) }
}
