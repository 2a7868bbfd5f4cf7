/// What the owner of a `CoordinationMachine` must do, in this order.
package enum CoordinationAction: Sendable, Equatable {
    /// The claim is held from now on. The accesses carry the paths of now: an item may have moved meanwhile.
    case grant(ClaimID, [Access])
    /// The request is gone.
    case fail(ClaimID, CoordinationError)
    /// Ask a presenter. Its answer goes to `answered`; where none comes for `timeout`, `timedOut`.
    case ask(QuestionID, PresenterID, PresenterQuestion, timeout: Duration)
    case tell(PresenterID, PresenterMessage)
    /// Say `mountIsQuiet` once no program but `except` writes to the items through handles that hold no claim.
    case askMount(ClaimID, [Access], except: Int32?)
    /// A presenter was passed over because it did not answer in time. Once until it answers.
    case hung(PresenterID, PresenterQuestion)
}
