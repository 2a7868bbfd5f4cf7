import QuireCore

/// Finds out whether versions are made of size and second, from writes of the same number of bytes one after the other.
///
/// Two writes with one version prove that they are. That they are not takes more versions than the seconds that the writes
/// can lie in, by this device's clock:
/// ```
///  writes      a    b    c    d          in less than a second: in two of the server's at most
///  seconds  ──────┼──────────────────    so of four versions made of seconds two are one
/// ```
/// However long a server takes for a write, it is never taken for what it is not; there may be no proof only.
struct DAVVersionTrial: Sendable {
    /// Seconds that a server's clock may have been set by meanwhile.
    private static let spare = 1

    private var writes: [(version: ProviderVersion, begin: ContinuousClock.Instant)] = []
    /// Nil while nothing is proved.
    private(set) var isTimeBased: Bool?

    /// Notes a write that was made after `begin` and before `end`, and what a look has found then.
    mutating func note(_ version: ProviderVersion, from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant)
    {
        if writes.contains(where: { $0.version == version }) { isTimeBased = true }
        writes.append((version, begin))
        guard isTimeBased == nil else { return }
        for (first, write) in writes.enumerated()
        where writes.count - first > Self.mostSeconds(in: end - write.begin) + Self.spare {
            isTimeBased = false
        }
    }

    /// In how many seconds of a clock something lies that takes so long.
    private static func mostSeconds(in duration: Duration) -> Int { Int((duration / .seconds(1)).rounded(.up)) + 1 }
}
