import Glibc
import QuireCoordination
import QuireCore
import Testing

/// Random claims, presenters, clients, deaths, cancels, moves, answers and time-outs on the whole machine, held to what
/// must be so whatever happens. `QUIRE_SEED` repeats a history.
@Suite("Coordination machine, random histories")
struct MachineModelTests {
    @Test("Every request ends once, every question is answered or passed over, and whoever gave way goes on")
    func randomHistories() async {
        if let fault = await computing.run({ Self.fault() }) { Issue.record("\(fault)") }
    }

    /// What went wrong in one history; nil where nothing did.
    private static func fault() -> String? {
        let seed = Self.number("QUIRE_SEED") ?? UInt64.random(in: 0..<1_000_000)
        let steps = Self.number("QUIRE_STEPS") ?? 60_000
        print("coordination machine model: seed \(seed), \(steps) steps")
        var run = MachineRun(seed: seed)
        for step in 0..<steps {
            if let fault = run.step() {
                return "seed \(seed), step \(step): \(fault)\n\(run.recent.joined(separator: "\n"))"
            }
        }
        if let fault = run.drain() { return "seed \(seed), at the end: \(fault)" }
        let isTame = run.grants <= steps / 20 || run.questionsAsked <= steps / 20
        return isTame ? "seed \(seed): the history is too tame" : nil
    }

    private static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }
}

private struct MachineRun {
    private struct Held {
        let accesses: [Access]
        let purpose: Purpose
        let isPreparation: Bool
    }

    private struct Presenter {
        let client: ClientID
        var asked: QuestionID?
    }

    private var machine = CoordinationMachine()
    private var random: SeededGenerator
    private var nextID: UInt64 = 1
    private(set) var recent: [String] = []
    private(set) var grants: UInt64 = 0
    private(set) var questionsAsked: UInt64 = 0

    private var waiting: [ClaimID: (client: ClientID, purpose: Purpose, isPreparation: Bool, asksMount: Bool)] = [:]
    private var held: [ClaimID: Held] = [:]
    private var presenters: [PresenterID: Presenter] = [:]
    /// Questions that were passed over, with who may still answer.
    private var late: [QuestionID: ClientID] = [:]
    /// Relinquishes that ask for a reacquire, which did not come yet.
    private var givenWay: [QuestionID: PresenterID] = [:]
    private var moved = false
    private var fault: String?

    private let paths: [RelativePath] = ["a", "b", "d", "d/a", "d/k.pkg", "d/k.pkg/x", "d/k.pkg/y"]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func step() -> String? {
        act()
        return fault ?? incompatible() ?? stuck()
    }

    /// Answers and releases until nothing is left.
    mutating func drain() -> String? {
        for _ in 0..<10_000 where fault == nil {
            if let id = held.keys.min() {
                held[id] = nil
                take(machine.release(id))
            } else if let (id, presenter) = presenters.first(where: { $0.value.asked != nil }),
                let asked = presenter.asked
            {
                presenters[id]?.asked = nil
                take(machine.answered(asked, by: presenter.client, .done(reacquires: false)))
            } else if let id = waiting.first(where: { $0.value.asksMount })?.key {
                waiting[id]?.asksMount = false
                take(machine.mountIsQuiet(id))
            } else if let (id, presenter) = presenters.first {
                presenters[id] = nil
                givenWay = givenWay.filter { $0.value != id }
                take(machine.removePresenter(id, of: presenter.client))
            } else {
                break
            }
        }
        if let fault { return fault }
        if !waiting.isEmpty { return "\(waiting.keys.sorted()) wait for ever" }
        if !givenWay.isEmpty { return "\(givenWay) were never let go on" }
        if machine.isEmpty { return nil }
        return "left: \(machine.claimReports(now: .zero)), \(machine.presenterReports(now: .zero))"
    }

    private mutating func act() {
        let client = ClientID(UInt64.random(in: 1..<5, using: &random))
        switch Int.random(in: 0..<100, using: &random) {
        case ..<30 where waiting.count + held.count < 10: request(client)
        case ..<55: if let id = held.keys.sorted().randomElement(using: &random) { release(id) }
        case ..<60: if let id = waiting.keys.sorted().randomElement(using: &random) { cancel(id) }
        case ..<85: answer()
        case ..<88: timeOut()
        case ..<93 where presenters.count < 6: register(client)
        case ..<95: unregister()
        case ..<97: move()
        case ..<98: clientGone(client)
        default: if let id = waiting.keys.sorted().first(where: { waiting[$0]?.asksMount == true }) { quiet(id) }
        }
    }

    private mutating func request(_ client: ClientID) {
        let id = ClaimID(nextID)
        nextID += 1
        let accesses = (0..<Int.random(in: 1...2, using: &random)).map { _ -> Access in
            let path = path()
            if Bool.random(using: &random) { return .reading(path, Bool.random(using: &random) ? [] : .withoutChanges) }
            return .writing(path, WritingOption.allCases.randomElement(using: &random) ?? .inPlace)
        }
        let owned = presenters.filter { $0.value.client == client }.keys.min()
        let purpose =
            Bool.random(using: &random)
            ? Purpose.mount : Purpose(owned.map { "P\($0.rawValue)" } ?? "c\(client.rawValue)")
        let prepares = purpose != .mount && Int.random(in: 0..<8, using: &random) == 0
        let asksMount = purpose != .mount && !prepares && Int.random(in: 0..<8, using: &random) == 0
        let claim = ClaimRequest(
            id: id, accesses: accesses, purpose: purpose, client: client, processID: Int32(client.rawValue))
        note(
            "\(id) by \(client.rawValue) \(purpose)\(prepares ? " prepares" : "")\(asksMount ? " mount" : ""): \(accesses)"
        )
        waiting[id] = (client, purpose, prepares, false)
        take(
            machine.request(
                AccessRequest(
                    claim, presenter: purpose == .mount ? nil : owned, isPreparation: prepares, asksMount: asksMount)))
    }

    private mutating func release(_ id: ClaimID) {
        note("release \(id)")
        held[id] = nil
        take(machine.release(id))
    }

    private mutating func cancel(_ id: ClaimID) {
        note("cancel \(id)")
        take(machine.cancel(id))
        if waiting[id] != nil { fault = "\(id) was cancelled and still waits" }
    }

    private mutating func quiet(_ id: ClaimID) {
        note("quiet \(id)")
        waiting[id]?.asksMount = false
        take(machine.mountIsQuiet(id))
    }

    private mutating func answer() {
        let reacquires = Bool.random(using: &random)
        let failed = Int.random(in: 0..<10, using: &random) == 0
        let answer: PresenterAnswer = failed ? .failed("no") : .done(reacquires: reacquires)
        if Int.random(in: 0..<6, using: &random) == 0, let (id, client) = late.min(by: { $0.key < $1.key }) {
            late[id] = nil
            note("late answer \(id.rawValue): \(answer)")
            if reacquires, !failed, let kind = kinds[id], kind.isRelinquish { givenWay[id] = kind.presenter }
            return take(machine.answered(id, by: client, answer))
        }
        let asked = presenters.filter { $0.value.asked != nil }.keys.sorted()
        guard let presenter = asked.randomElement(using: &random), let id = presenters[presenter]?.asked,
            let client = presenters[presenter]?.client
        else { return }
        note("P\(presenter.rawValue) answers \(id.rawValue): \(answer)")
        presenters[presenter]?.asked = nil
        if reacquires, !failed, kinds[id]?.isRelinquish == true { givenWay[id] = presenter }
        take(machine.answered(id, by: client, answer))
    }

    private mutating func timeOut() {
        guard let (presenter, state) = presenters.filter({ $0.value.asked != nil }).min(by: { $0.key < $1.key }),
            let id = state.asked
        else { return }
        note("\(id.rawValue) times out")
        presenters[presenter]?.asked = nil
        late[id] = state.client
        take(machine.timedOut(id))
    }

    private mutating func register(_ client: ClientID) {
        let id = PresenterID(nextID)
        nextID += 1
        note("P\(id.rawValue) of \(client.rawValue)")
        presenters[id] = Presenter(client: client)
        machine.add(
            PresenterRegistration(
                id: id, client: client, processID: Int32(client.rawValue), path: path(),
                purpose: Purpose("P\(id.rawValue)")))
    }

    private mutating func unregister() {
        guard let id = presenters.keys.sorted().randomElement(using: &random), let client = presenters[id]?.client
        else {
            return
        }
        note("P\(id.rawValue) goes")
        forget(id)
        take(machine.removePresenter(id, of: client))
    }

    private mutating func move() {
        let (from, to) = (path(), path())
        guard !to.isInside(from), !from.isInside(to) else { return }
        note("move \(from) \(to)")
        // Holders that a move brings together stay holders.
        moved = true
        take(machine.moved(from: from, to: to))
        if held.isEmpty { moved = false }
    }

    private mutating func clientGone(_ client: ClientID) {
        note("client \(client.rawValue) gone")
        for id in presenters.filter({ $0.value.client == client }).keys { forget(id) }
        take(machine.removed(client: client))
        if let id = waiting.first(where: { $0.value.client == client && !$0.value.isPreparation })?.key {
            fault = "\(id) waits for a client that is gone"
        }
        waiting = waiting.filter { $0.value.client != client }
        for id in heldBy[client] ?? [] { held[id] = nil }
        heldBy[client] = nil
    }

    private mutating func forget(_ id: PresenterID) {
        presenters[id] = nil
        givenWay = givenWay.filter { $0.value != id }
        late = late.filter { kinds[$0.key]?.presenter != id }
    }

    private var kinds: [QuestionID: (presenter: PresenterID, isRelinquish: Bool)] = [:]
    private var heldBy: [ClientID: Set<ClaimID>] = [:]

    private mutating func take(_ actions: [CoordinationAction]) {
        for action in actions {
            switch action {
            case .grant(let id, let accesses):
                grants += 1
                guard let request = waiting.removeValue(forKey: id) else {
                    fault = "\(id) was granted, and nobody asked"
                    return
                }
                if request.asksMount { fault = "\(id) was granted while programs write" }
                held[id] = Held(accesses: accesses, purpose: request.purpose, isPreparation: request.isPreparation)
                heldBy[request.client, default: []].insert(id)
            case .fail(let id, _):
                if waiting.removeValue(forKey: id) == nil { fault = "\(id) failed, and nobody waited" }
            case .ask(let id, let presenter, let question, _):
                questionsAsked += 1
                guard let state = presenters[presenter], state.asked == nil else {
                    fault = "P\(presenter.rawValue) is gone, or has a question already"
                    return
                }
                presenters[presenter]?.asked = id
                kinds[id] = (presenter, question == .relinquishToReader || question == .relinquishToWriter)
            case .tell(let presenter, .reacquire(let question)):
                if givenWay.removeValue(forKey: question) != presenter {
                    fault = "P\(presenter.rawValue) reacquires for \(question.rawValue), which it did not ask for"
                }
            case .tell(let presenter, _):
                if presenters[presenter] == nil { fault = "P\(presenter.rawValue) is told, and gone" }
            case .askMount(let id, _, _): waiting[id]?.asksMount = true
            case .hung: break
            }
        }
    }

    private func incompatible() -> String? {
        guard !moved else { return nil }
        let holders = held.filter { !$0.value.isPreparation }
        for (left, one) in holders {
            for (right, other) in holders where left < right && one.purpose != other.purpose {
                let conflict = one.accesses.contains { a in other.accesses.contains { ReferenceTable.conflict(a, $0) } }
                if conflict { return "\(left) and \(right) are both held" }
            }
        }
        return nil
    }

    /// Somebody waits, and neither a holder nor a question nor the mount stands in the way.
    private func stuck() -> String? {
        guard !waiting.isEmpty, !held.values.contains(where: { !$0.isPreparation }) else { return nil }
        if presenters.values.contains(where: { $0.asked != nil }) { return nil }
        if waiting.values.contains(where: \.asksMount) { return nil }
        return "\(waiting.keys.sorted()) wait for nobody"
    }

    private mutating func path() -> RelativePath { paths.randomElement(using: &random) ?? "a" }

    private mutating func note(_ text: String) {
        recent.append(text)
        if recent.count > 60 { recent.removeFirst() }
    }
}
