package import QuireCore

/// One presenter, for people.
package struct PresenterReport: Sendable, Equatable {
    package let id: PresenterID
    package let client: ClientID
    package let processID: Int32?
    package let program: String?
    package let path: RelativePath?
    package let purpose: Purpose
    /// Since it was registered.
    package let age: Duration
    /// What it is asked just now, and for which claim.
    package let question: PresenterQuestion?
    package let askedBy: ClaimID?
    /// It left a question unanswered past the deadline, and is passed over until it answers.
    package let isHung: Bool
}
