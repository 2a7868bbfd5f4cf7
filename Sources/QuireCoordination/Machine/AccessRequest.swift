/// A wish for claims, with what the presenters of the items have to know of it.
package struct AccessRequest: Sendable {
    package var claim: ClaimRequest
    /// The presenter that the caller's coordinator was made with: it is neither asked nor told.
    package var presenter: PresenterID?
    /// Only asks the presenters of the items and of all below them, ahead of requests of the same purpose for each. Gives
    /// access to nothing; ends with `release` all the same.
    package var isPreparation: Bool
    /// Whether programs that have the items open for writing must have come to rest first: see
    /// `CoordinationAction.askMount`.
    package var asksMount: Bool
    /// Whether presenters are left alone: only claims are waited for.
    package var asksNobody = false
    /// How long a presenter may take for one question.
    package var questionTimeout: Duration

    package init(
        _ claim: ClaimRequest, presenter: PresenterID? = nil, isPreparation: Bool = false, asksMount: Bool = false,
        questionTimeout: Duration = .seconds(5)
    ) {
        self.claim = claim
        self.presenter = presenter
        self.isPreparation = isPreparation
        self.asksMount = asksMount
        self.questionTimeout = questionTimeout
    }
}
