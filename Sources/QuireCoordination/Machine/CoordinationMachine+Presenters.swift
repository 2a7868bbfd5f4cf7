package import QuireCore

/// Presenters coming, going and moving.
extension CoordinationMachine {
    /// Registers a presenter: it is asked for requests that are made from now on.
    package mutating func add(_ presenter: PresenterRegistration) {
        precondition(book.entries[presenter.id] == nil, "a presenter is registered once")
        book.add(presenter)
    }

    /// Ends a registration. What the presenter was asked counts as answered. Unknown ids, and other clients', are left alone.
    package mutating func removePresenter(_ id: PresenterID, of client: ClientID) -> [CoordinationAction] {
        guard book.entries[id]?.registration.client == client else { return [] }
        var out: [CoordinationAction] = []
        for (claim, respondents) in takeOut(id) { settle(claim, respondents, &out) }
        return out
    }

    /// A presenter presents another item from now on, or one at last; nil for none. Claims that ask it go on asking.
    /// - Returns: whether there is such a presenter of this client.
    package mutating func setPath(_ path: RelativePath?, of id: PresenterID, by client: ClientID) -> Bool {
        guard book.entries[id]?.registration.client == client else { return false }
        book.place(id, at: path)
        return true
    }

    /// All presenters, in the order of their registration.
    package func presenterReports(now: Duration) -> [PresenterReport] {
        book.entries.values.sorted { $0.registration.id < $1.registration.id }.map { entry in
            let registration = entry.registration
            let question = entry.asked ?? entry.late.values.first
            return PresenterReport(
                id: registration.id, client: registration.client, processID: registration.processID,
                program: registration.program, path: registration.path, purpose: registration.purpose,
                age: now - registration.now, question: question?.question, askedBy: question?.claim,
                isHung: entry.isHung)
        }
    }

    /// All holders and waiters, oldest first.
    package func claimReports(now: Duration) -> [ClaimReport] {
        table.reports(now: now).map { report in
            guard let open = negotiations[report.id]?.open, open > 0 else { return report }
            var report = report
            report.asks = book.entries.values.filter { entry in
                entry.asked?.claim == report.id || entry.backlog.contains { $0.claim == report.id }
            }.map(\.registration.id).sorted()
            return report
        }
    }

    /// Takes a presenter out of the book.
    /// - Returns: the claims that miss an answer of it, once for each.
    mutating func takeOut(_ id: PresenterID) -> [(ClaimID, [Respondent])] {
        guard let entry = book.remove(id) else { return [] }
        if let current = entry.current { questions[current] = nil }
        for late in entry.late.keys { questions[late] = nil }
        return ((entry.asked.map { [$0] } ?? []) + entry.backlog).map { ($0.claim, entry.respondents) }
    }
}
