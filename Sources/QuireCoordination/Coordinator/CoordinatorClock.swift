/// A clock of whatever kind, told as the time since the coordinator was made.
struct CoordinatorClock: Sendable {
    let now: @Sendable () -> Duration
    /// Throws only when the task is cancelled.
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    init(_ clock: any Clock<Duration>) { self = Self.make(clock) }

    private init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (_ until: Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    private static func make<C: Clock>(_ clock: C) -> CoordinatorClock where C.Duration == Duration {
        let start = clock.now
        return CoordinatorClock(
            now: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) })
    }
}
