/// What one round did.
struct RoundReport: Sendable, Hashable {
    var push = PushResult()
    /// Nil when the provider was not asked.
    var pull: PullResult?
    /// Uploads that were found to have arrived.
    var answersFound = 0
    /// Something failed that may well succeed when tried again soon.
    var retriesSoon = false
    /// Why the provider could not be reached.
    var offline: String?
    /// Why the round ended early otherwise (the index could not be read).
    var failure: String?
    /// Until when the drive is paused: nothing was done, or not all.
    var pause: PauseEnd?

    /// Whether anything was sent, applied or recorded.
    var madeProgress: Bool { push.sent > 0 || answersFound > 0 || (pull?.applied ?? 0) > 0 }

    /// Whether there is nothing left that another round could do.
    var isQuiet: Bool {
        guard offline == nil, failure == nil, !retriesSoon, !madeProgress, !push.needsLook, !push.gaveWay,
            push.waiting + push.busy + push.beside == 0
        else { return false }
        return pull.map { $0.left == 0 } ?? false
    }

    /// Changes that wait for time or for the user's doing.
    var parked: Int { push.failed + (pull?.failed.count ?? 0) }
}
