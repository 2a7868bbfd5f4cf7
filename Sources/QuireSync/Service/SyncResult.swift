package import QuireCore

/// How `quire sync` ended.
package enum SyncResult: Sendable, Hashable {
    /// Everything changed before the call is at the provider, everything the provider had is here.
    case settled
    /// Nothing more can be done without the user: conflict copies, parked errors, deletions to be confirmed.
    case unresolved(conflicts: [RelativePath], errors: [ParkedChange], heldDeletions: Int)
    /// A provider cannot be reached; `pending` changes wait for it.
    case unreachable(message: String, pending: Int)
    case timedOut(pending: Int)
    /// The drive was paused by its user; `pending` changes wait.
    case paused(until: PauseEnd, pending: Int)
}

/// What `quire status` says of synchronisation.
package struct SyncStatus: Sendable, Hashable {
    package struct Pending: Sendable, Hashable {
        package var uploads = 0
        package var downloads = 0
        package var deletions = 0
        package var renames = 0

        package var total: Int { uploads + deletions + renames }
    }

    package var pending = Pending()
    /// Why more may be pending than is counted, as the end of a sentence; nil where nothing is.
    package var doubt: String?
    package var conflicts: [RelativePath] = []
    package var errors: [ParkedChange] = []
    package var transfers: [Transfer] = []
    package var engines: [EngineStatus] = []
    /// Deletions that wait for `quire sync --confirm-deletes`: what is missing here is kept at the providers, or the other way.
    package var heldDeletions: Int { held.reduce(0) { $0 + $1.count } }
    /// The same by who misses them.
    package var held: [HeldDeletionsReport] = []
    /// Until when the drive is paused; nil while it is not.
    package var pauseEnd: PauseEnd?
}

/// Documents that are missing on one side, so many at once that their deletion is held on the other.
package struct HeldDeletionsReport: Sendable, Hashable {
    /// Whether they are missing on this device, and stay at the provider; else the other way.
    package var isMissingHere: Bool
    package var providerName: String
    package var count: Int
    /// The first of them, below the drive's root.
    package var first: [RelativePath]
}
