import QuireCoordination
import QuireCore

/// A machine with its actions as short sentences, in order.
struct MachineScript {
    var machine = CoordinationMachine()
    private(set) var log: [String] = []
    private var nextPresenter: UInt64 = 1

    /// What happened since the last call.
    mutating func happened() -> [String] {
        defer { log = [] }
        return log
    }

    /// Registers presenter `P<n>`, of client and process n.
    @discardableResult
    mutating func present(
        _ path: RelativePath?, client: UInt64? = nil, callbacks: PresenterCallbacks = .all, isDirectory: Bool = false,
        observing attributes: Set<String> = []
    ) -> UInt64 {
        let number = nextPresenter
        nextPresenter += 1
        var presenter = PresenterRegistration(
            id: PresenterID(number), client: ClientID(client ?? number), processID: Int32(client ?? number), path: path,
            purpose: Purpose("P\(number)"), callbacks: callbacks, observedAttributes: attributes)
        presenter.isDirectory = isDirectory
        machine.add(presenter)
        return number
    }

    mutating func ask(
        _ id: UInt64, _ accesses: Access..., purpose: String? = nil, process: Int32? = nil, client: UInt64? = nil,
        presenter: UInt64? = nil, prepares: Bool = false, asksMount: Bool = false
    ) {
        let claim = ClaimRequest(
            id: ClaimID(id), accesses: accesses, purpose: Purpose(purpose ?? "purpose \(id)"),
            client: client.map(ClientID.init), processID: process)
        add(
            machine.request(
                AccessRequest(
                    claim, presenter: presenter.map(PresenterID.init), isPreparation: prepares, asksMount: asksMount)))
    }

    mutating func release(_ id: UInt64) { add(machine.release(ClaimID(id))) }

    mutating func cancel(_ id: UInt64) { add(machine.cancel(ClaimID(id))) }

    mutating func move(_ from: RelativePath, _ to: RelativePath, except: UInt64? = nil) {
        add(machine.moved(from: from, to: to, except: except.map { .presenter(PresenterID($0)) }))
    }

    mutating func answer(_ question: UInt64, by client: UInt64, _ answer: PresenterAnswer = .done(reacquires: false)) {
        add(machine.answered(QuestionID(question), by: ClientID(client), answer))
    }

    mutating func timeOut(_ question: UInt64) { add(machine.timedOut(QuestionID(question))) }

    mutating func clientGone(_ client: UInt64) { add(machine.removed(client: ClientID(client))) }

    mutating func add(_ actions: [CoordinationAction]) { log += actions.map(Self.sentence) }

    private static func sentence(_ action: CoordinationAction) -> String {
        switch action {
        case .grant(let id, let accesses): "\(id) granted \(accesses.map(\.path.description).joined(separator: " "))"
        case .fail(let id, let error): "\(id) failed: \(error)"
        case .ask(let id, let presenter, let question, _):
            "?\(id.rawValue) P\(presenter.rawValue) \(sentence(question))"
        case .tell(let presenter, let message): "P\(presenter.rawValue) \(sentence(message))"
        case .askMount(let id, _, _): "\(id) asks the mount"
        case .hung(let presenter, _): "P\(presenter.rawValue) hung"
        }
    }

    private static func sentence(_ question: PresenterQuestion) -> String {
        switch question {
        case .relinquishToReader: "relinquishToReader"
        case .relinquishToWriter: "relinquishToWriter"
        case .saveChanges: "save"
        case .accommodateDeletion: "accommodateDeletion"
        case .accommodateSubitemDeletion(let path): "accommodateSubitemDeletion \(path)"
        }
    }

    private static func sentence(_ message: PresenterMessage) -> String {
        switch message {
        case .reacquire(let question): "reacquire \(question.rawValue)"
        case .didMove(let path): "didMove \(path)"
        case .didChange: "didChange"
        case .subitemDidAppear(let path): "subitemDidAppear \(path)"
        case .subitemDidMove(let from, let to): "subitemDidMove \(from) \(to)"
        case .subitemDidChange(let path): "subitemDidChange \(path)"
        case .version(let event, let id, let path): "\(event) \(id) \(path.map { "\($0)" } ?? "own")"
        case .ubiquityAttributes(let attributes): "attributes \(attributes.sorted().joined(separator: " "))"
        }
    }
}
