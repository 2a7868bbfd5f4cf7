import Glibc
package import QuireCore

/// Time and chance, injected so that tests neither wait nor guess.
package struct SyncClock: Sendable {
    /// The wall clock, as file times have it: for what is shown, or kept between daemons. Somebody may set it, back too.
    package var now: @Sendable () -> FileTime
    /// How long the machine has run, suspended or not: for pauses and deadlines. Nobody sets it.
    package var uptime: @Sendable () -> Duration
    /// Returns after that time; throws `CancellationError` when the task is cancelled first.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number in 0 ..< 1.
    package var random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> FileTime, uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        self.random = random
    }

    /// The machine's.
    package static let system = SyncClock(
        now: {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        },
        uptime: {
            var time = timespec()
            clock_gettime(CLOCK_BOOTTIME, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        },
        sleep: { try await Task.sleep(for: $0) },
        random: { Double.random(in: 0..<1) })

    /// `YYYY-MM-DD` now, in the device's time zone.
    package var today: String { now().localDay }
}

extension FileTime {
    /// The time from `earlier` until this.
    func since(_ earlier: FileTime) -> Duration {
        .nanoseconds(nanoseconds.subtractingReportingOverflow(earlier.nanoseconds).partialValue)
    }

    func advanced(by duration: Duration) -> FileTime {
        let (seconds, attoseconds) = duration.components
        return FileTime(nanoseconds: nanoseconds &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}
