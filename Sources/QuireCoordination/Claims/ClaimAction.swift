/// What the owner of a `ClaimTable` must do.
package enum ClaimAction: Sendable, Equatable {
    /// The claim is held from now on. The accesses carry the paths of now: an item may have moved meanwhile.
    case grant(ClaimID, [Access])
    /// Nobody is in the way of a request that asks first: others are to be asked now, then comes `ClaimTable.proceed`.
    /// Until then it keeps its place: what was asked for later waits for it.
    case ready(ClaimID, [Access])
    /// The request is gone.
    case fail(ClaimID, CoordinationError)
}
