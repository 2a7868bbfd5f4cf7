/// When locks are renewed, and when one that could not be counts as lost.
struct DAVLockRhythm: Sendable {
    /// How long after it was granted or renewed one is renewed; several times before it would end.
    var renewal = Duration.seconds(15)
    /// How long after that failed it is tried again.
    var retry = Duration.seconds(3)
    /// How long an answer is waited for.
    var patience = Duration.seconds(10)
    /// How long after it was granted or renewed one counts as held: less than `DAVLock.seconds`, so that what is done under
    /// it has ended by then.
    var life = Duration.seconds(50)
}
