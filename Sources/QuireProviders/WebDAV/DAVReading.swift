import QuireCore

/// How what an account tells becomes items, as the probe has found.
struct DAVReading: Sendable, Hashable {
    /// The server keeps stamps: what has none has no tags.
    var stamps = false
    /// See `DAVAbilities.isTimeBased`.
    var isTimeBased = false
    /// By how much the clock of documents is ahead of that of answers.
    var clockLead = Duration.zero

    /// How long after a write another one has another time for certain: a second, and what a kernel's clock is late.
    static let granularity = Duration.milliseconds(1100)
    /// As much later a server says that this is over: its dates have no parts of seconds, either.
    static let settleTime = Duration.milliseconds(2050)

    /// Whether a document may be written again without its version changing: its time is so recent. One that is in the
    /// future was set by somebody, and will be for long.
    func isRecent(_ resource: DAVResource) -> Bool {
        guard isTimeBased, let modified = resource.modified, let seen = resource.seen else { return false }
        return modified > seen.earliest.later(by: clockLead - Self.granularity)
            && modified < seen.latest.later(by: clockLead + Self.granularity)
    }
}
