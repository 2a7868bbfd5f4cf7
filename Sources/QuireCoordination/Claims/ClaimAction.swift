/// What the owner of a `ClaimTable` must do. Messages to presenters become further cases.
package enum ClaimAction: Sendable, Equatable {
    /// The claim is held from now on. The accesses carry the paths of now: an item may have moved meanwhile.
    case grant(ClaimID, [Access])
    /// The request is gone.
    case fail(ClaimID, CoordinationError)
}
