import Glibc
import QuireCore
import QuireSync
import Synchronization

/// A wall clock that runs ahead of the machine's, and further when somebody sleeps: nobody waits.
final class TestClock: Sendable {
    private let ahead = Lock<Int64>(1_000_000_000)
    /// How far somebody has set it.
    private let shift = Lock<Int64>(0)

    var now: FileTime {
        let system = SyncClock.system.now()
        return FileTime(nanoseconds: system.nanoseconds + ahead.withLock { $0 } + shift.withLock { $0 })
    }

    func advance(_ duration: Duration) { ahead.withLock { $0 += Self.nanoseconds(duration) } }

    /// Somebody sets it, which takes no time.
    func set(by duration: Duration) { shift.withLock { $0 += Self.nanoseconds(duration) } }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    var syncClock: SyncClock {
        SyncClock(
            now: { self.now },
            uptime: { SyncClock.system.uptime() + .nanoseconds(self.ahead.withLock { $0 }) },
            sleep: { duration in
                // A deadline: it passes only when a test lets it.
                if duration >= .seconds(5) { try await Task.sleep(for: .seconds(3600)) }
                try Task.checkCancellation()
                self.advance(duration)
                await Task.yield()
                try Task.checkCancellation()
            },
            random: { 0.5 })
    }
}
