import QuireCore

/// What is kept of a request that presenters are asked for, until it ends.
struct Negotiation {
    struct GivenWay {
        let presenter: PresenterID
        let question: QuestionID
    }

    let purpose: Purpose
    let client: ClientID?
    let processID: Int32?
    /// Whose own request it is.
    let presenter: PresenterID?
    let timeout: Duration
    let asksMount: Bool
    /// For a preparation: what it is for, as it is not in the table.
    var preparation: [Access]?
    var isHeld = false
    /// How many answers are missing.
    var open = 0
    /// Those with questions, answered or not.
    var asked: Set<PresenterID> = []
    /// Who wants to be told when it ends.
    var reacquirers: [GivenWay] = []
}
