package import QuireCore

/// A granted claim. It is held until it is given to `Coordinator.release`, or its client goes away; dropping the value
/// does not end it.
package struct Claim: Sendable, Hashable {
    package let id: ClaimID
    /// What was granted, with the paths at the moment of the grant: use these, the items may have moved before.
    package let accesses: [Access]

    /// The path of the first access.
    package var path: RelativePath { accesses.first?.path ?? .root }
}
