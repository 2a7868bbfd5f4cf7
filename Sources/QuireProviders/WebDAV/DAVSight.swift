import QuireCore

/// When a server looked at what it tells, by the clock that its `Date` is of (RFC 9110 §6.6.1): no clock of this device's
/// is compared with it, only how long the answer took.
struct DAVSight: Sendable, Hashable {
    let date: FileTime
    let earliest: FileTime
    let latest: FileTime

    /// Nil where the server does not say when it answered.
    ///
    /// - Parameters:
    ///   - sent: before the request was.
    ///   - answered: when the head of the answer, which has the date, was there.
    init?(_ head: HTTPAnswer, sent: ContinuousClock.Instant, answered: ContinuousClock.Instant) {
        guard let date = head.fields["Date"].flatMap({ HTTPDate.parse($0) }) else { return nil }
        self.date = date
        earliest = date.later(by: sent - answered)
        // What is listed may have been looked at after the head was sent; and a date has no parts of seconds.
        latest = date.later(by: ContinuousClock.now - answered + .seconds(1))
    }
}

extension FileTime {
    func later(by duration: Duration) -> FileTime {
        let (seconds, attoseconds) = duration.components
        return FileTime(nanoseconds: nanoseconds &+ seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }
}
