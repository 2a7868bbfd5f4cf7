import QuireCore

/// Asking presenters.
extension CoordinationMachine {
    /// A presenter answered. Late answers, of presenters that were passed over, count too: from then on it is asked again.
    /// - Parameter client: who answers; answers to questions of others are left alone.
    package mutating func answered(
        _ id: QuestionID, by client: ClientID, _ answer: PresenterAnswer
    ) -> [CoordinationAction] {
        guard let presenter = questions[id], let entry = book.entries[presenter], entry.registration.client == client
        else { return [] }
        questions[id] = nil
        var out: [CoordinationAction] = []
        if let question = entry.late[id] {
            book.entries[presenter]?.late[id] = nil
            noteGivenWay(presenter, id, question, answer, &out)
        } else if let question = entry.asked {
            book.entries[presenter]?.asked = nil
            book.entries[presenter]?.current = nil
            noteGivenWay(presenter, id, question, answer, &out)
            if case .failed(let reason) = answer, !question.question.isRelinquish {
                refuse(question.claim, reason, &out)
            } else {
                settle(question.claim, entry.respondents, &out)
            }
        }
        askNext(presenter, &out)
        return out
    }

    /// Whether some presenter outside of the process `except` has to be asked for one of `accesses`.
    func mustAsk(_ accesses: [Access], except process: Int32?) -> Bool {
        guard !book.isEmpty else { return false }
        return wanted(for: accesses, including: false).contains { presenter, _ in
            process == nil || book.entries[presenter]?.registration.processID != process
        }
    }

    /// Asks for a request whose turn has come.
    mutating func startAsking(_ id: ClaimID, _ accesses: [Access], _ out: inout [CoordinationAction]) {
        guard let negotiation = negotiations[id] else { return absorb(table.proceed(id), &out) }
        let isMount = negotiation.purpose == .mount
        let wanted = wanted(for: accesses, including: negotiation.preparation != nil).filter { presenter, question in
            guard presenter != negotiation.presenter, let entry = book.entries[presenter], !entry.isHung else {
                return false
            }
            if isMount, entry.registration.processID != nil, entry.registration.processID == negotiation.processID {
                return false
            }
            return !question.isRelinquish || !hasGivenWay(entry, to: question, negotiation.purpose)
        }
        negotiations[id]?.open = wanted.count + (negotiation.asksMount ? 1 : 0)
        negotiations[id]?.asked = Set(wanted.map(\.0))
        for (presenter, question) in wanted {
            book.entries[presenter]?.backlog.append(.init(claim: id, question: question, timeout: negotiation.timeout))
            for respondent in book.entries[presenter]?.respondents ?? [] { table.ask(id, respondent) }
        }
        if negotiation.asksMount { out.append(.askMount(id, accesses, except: negotiation.processID)) }
        guard !wanted.isEmpty || negotiation.asksMount else { return proceed(id, &out) }
        var seen: Set<PresenterID> = []
        for (presenter, _) in wanted where seen.insert(presenter).inserted { askNext(presenter, &out) }
    }

    /// Enters a preparation.
    mutating func prepare(_ request: AccessRequest, _ out: inout [CoordinationAction]) {
        let id = request.claim.id
        if let reason = request.claim.invalidity {
            return out.append(.fail(id, CoordinationError(.invalid(reason: reason))))
        }
        negotiations[id] = Negotiation(request)
        startAsking(id, request.claim.accesses, &out)
    }

    /// One answer less is missing.
    mutating func settle(_ id: ClaimID, _ respondents: [Respondent], _ out: inout [CoordinationAction]) {
        guard let negotiation = negotiations[id], negotiation.open > 0 else { return }
        for respondent in respondents { table.answered(id, respondent) }
        negotiations[id]?.open -= 1
        if negotiation.open == 1 { proceed(id, &out) }
    }

    /// A question was not answered in time: its presenter is passed over, for this and for what else it would be asked.
    package mutating func timedOut(_ id: QuestionID) -> [CoordinationAction] {
        guard let presenter = questions[id], let entry = book.entries[presenter], entry.current == id,
            let question = entry.asked
        else { return [] }
        var out: [CoordinationAction] = []
        if !entry.isHung { out.append(.hung(presenter, question.question)) }
        book.entries[presenter]?.late[id] = question
        book.entries[presenter]?.asked = nil
        book.entries[presenter]?.current = nil
        book.entries[presenter]?.backlog = []
        for question in [question] + entry.backlog { settle(question.claim, entry.respondents, &out) }
        return out
    }

    private mutating func proceed(_ id: ClaimID, _ out: inout [CoordinationAction]) {
        if let accesses = negotiations[id]?.preparation {
            negotiations[id]?.isHeld = true
            out.append(.grant(id, accesses))
        } else {
            absorb(table.proceed(id), &out)
        }
    }

    private mutating func refuse(_ id: ClaimID, _ reason: String, _ out: inout [CoordinationAction]) {
        if negotiations[id]?.preparation != nil {
            guard negotiations[id]?.isHeld == false else { return }
            end(id, &out)
            out.append(.fail(id, CoordinationError(.refused(reason: reason))))
        } else {
            absorb(table.refuse(id, reason), &out)
        }
    }

    /// Remembers who gave way to whom, or lets it go on where the claim is gone.
    private mutating func noteGivenWay(
        _ presenter: PresenterID, _ id: QuestionID, _ question: PresenterBook.Question, _ answer: PresenterAnswer,
        _ out: inout [CoordinationAction]
    ) {
        guard question.question.isRelinquish, case .done(let reacquires) = answer else { return }
        guard negotiations[question.claim] != nil else {
            if reacquires { tell(presenter, .reacquire(id), &out) }
            return
        }
        let isWriter = question.question == .relinquishToWriter
        let before = book.entries[presenter]?.gaveWayTo[question.claim] ?? false
        book.entries[presenter]?.gaveWayTo[question.claim] = before || isWriter
        negotiations[question.claim]?.asked.insert(presenter)
        if reacquires { negotiations[question.claim]?.reacquirers.append(.init(presenter: presenter, question: id)) }
    }

    /// Whether it gave way to a claim of the same purpose already, which the new one is then inside of.
    private func hasGivenWay(_ entry: PresenterBook.Entry, to question: PresenterQuestion, _ purpose: Purpose) -> Bool {
        purpose != .mount
            && entry.gaveWayTo.contains { claim, isWriter in
                negotiations[claim]?.purpose == purpose && (isWriter || question == .relinquishToReader)
            }
    }

    /// Puts the next question to a presenter that has none.
    mutating func askNext(_ presenter: PresenterID, _ out: inout [CoordinationAction]) {
        guard let entry = book.entries[presenter], entry.current == nil, !entry.isHung, let next = entry.backlog.first
        else { return }
        let id = QuestionID(nextQuestion)
        nextQuestion += 1
        questions[id] = presenter
        book.entries[presenter]?.backlog.removeFirst()
        book.entries[presenter]?.current = id
        book.entries[presenter]?.asked = next
        out.append(.ask(id, presenter, next.question, timeout: next.timeout))
    }
}
