/// Times between attempts: doubling from one second to a limit, each cut by chance to between a half and the whole, so that
/// devices that lost the same provider do not come back all at once.
struct Backoff: Sendable, Hashable {
    private(set) var attempts = 0

    /// The time to wait after one more failure.
    /// - Parameter random: 0 ..< 1.
    mutating func next(limit: Duration, random: Double) -> Duration {
        let whole = min(limit, .seconds(1 << min(attempts, 16)))
        attempts += 1
        return whole * (0.5 + random / 2)
    }
}
