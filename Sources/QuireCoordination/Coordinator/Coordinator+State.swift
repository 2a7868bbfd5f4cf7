import QuireCore

extension Coordinator {
    typealias Outcome = Result<Claim, CoordinationError>

    /// Somebody who waits for the outcome of a request.
    enum Waiter {
        /// Not there yet.
        case expected
        case waiting(CheckedContinuation<Outcome, Never>)
        /// Known before anybody waited.
        case known(Outcome)
    }

    /// What is done outside of the lock, in the order in which the machine said it.
    enum Effect: Sendable {
        case resume(CheckedContinuation<Outcome, Never>, Outcome)
        case ask(any PresenterLink, QuestionID, PresenterID, PresenterQuestion, timeout: Duration)
        case tell(any PresenterLink, PresenterID, PresenterMessage)
        case passedOver(any PresenterLink, PresenterID, PresenterQuestion)
        case askMount(ClaimID, [Access], except: Int32?)
        case cancel(Task<Void, Never>)
    }

    struct State {
        var machine: CoordinationMachine
        var nextID: UInt64 = 1
        var nextPresenter: UInt64 = 1
        var waiters: [ClaimID: Waiter] = [:]
        var links: [PresenterID: any PresenterLink] = [:]
        /// What ends questions that are not answered in time.
        var timers: [QuestionID: Task<Void, Never>] = [:]
        /// What waits for programs on the mount.
        var mountTasks: [ClaimID: Task<Void, Never>] = [:]
        /// Requests of apps that are about to be entered.
        var announced = 0
        /// Those of them that no operation without a claim can go on beside any more.
        var seen = 0
        var effects: [Effect] = []
        /// Whether some thread carries effects out: then others leave theirs to it, so that all come in order.
        var isDelivering = false
    }
}

extension Coordinator.State {
    mutating func newID() -> ClaimID {
        defer { nextID += 1 }
        return ClaimID(nextID)
    }

    /// Turns actions into effects.
    mutating func add(_ actions: [CoordinationAction]) {
        for action in actions {
            switch action {
            case .grant(let id, let accesses): finish(id, .success(Claim(id: id, accesses: accesses)))
            case .fail(let id, let error):
                if let task = mountTasks.removeValue(forKey: id) { effects.append(.cancel(task)) }
                finish(id, .failure(error))
            case .ask(let id, let presenter, let question, let timeout):
                if let link = links[presenter] { effects.append(.ask(link, id, presenter, question, timeout: timeout)) }
            case .tell(let presenter, let message):
                if let link = links[presenter] { effects.append(.tell(link, presenter, message)) }
            case .askMount(let id, let accesses, let process):
                effects.append(.askMount(id, accesses, except: process))
            case .hung(let presenter, let question):
                if let link = links[presenter] { effects.append(.passedOver(link, presenter, question)) }
            }
        }
    }

    private mutating func finish(_ id: ClaimID, _ outcome: Coordinator.Outcome) {
        switch waiters[id] {
        case .waiting(let continuation):
            waiters[id] = nil
            effects.append(.resume(continuation, outcome))
        case .expected: waiters[id] = .known(outcome)
        case .known, nil: break
        }
    }
}
