import Glibc
@testable import QuireCoordination
import QuireCore
import Testing

/// Random histories against `ReferenceTable`. `QUIRE_SEED` repeats one, `QUIRE_STEPS` makes it longer.
@Suite("Claim table against the reference")
struct ClaimTableModelTests {
    /// Short histories of few claims, where much meets much, and longer ones of many.
    struct Scale: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: UInt64
        let living: Int
        let paths: Int

        var testDescription: String { name }

        static let all = [
            Scale(name: "few claims", steps: 490_000, living: 5, paths: 8),
            Scale(name: "few claims again", steps: 490_000, living: 4, paths: 5),
            Scale(name: "many claims", steps: 40_000, living: 14, paths: 22),
        ]
    }

    @Test(
        "After every random step the table and the reference agree on who may run, waits and failed",
        arguments: Scale.all)
    func randomHistories(scale: Scale) async {
        for fault in await computing.run({ Self.faults(scale) }) { Issue.record("\(fault)") }
    }

    /// What went wrong in one history.
    private static func faults(_ scale: Scale) -> [String] {
        let seed = number("QUIRE_SEED") ?? UInt64.random(in: 0..<1_000_000)
        let steps = number("QUIRE_STEPS") ?? scale.steps
        print("claim table model, \(scale.name): seed \(seed), \(steps) steps")
        var run = ModelRun(seed: seed, living: scale.living, paths: scale.paths)
        for step in 0..<steps {
            if let difference = run.step() {
                let history = run.recent.map { $0() }.joined(separator: "\n")
                return ["seed \(seed), step \(step): \(difference)\n\(history)"]
            }
        }
        run.drain()
        let table = run.table
        var faults: [String] = []
        func expect(_ isSo: Bool, _ what: String) { if !isSo { faults.append("seed \(seed), at the end: \(what)") } }
        expect(table.isEmpty && !table.hasExplicitClaims, "claims are left")
        expect(table.treeEntries == 0 && table.trie.nodes.allSatisfy { $0.uses == 0 }, "paths are left")
        expect(table.asked.isEmpty, "questions are left")
        expect(table.lanes.allSatisfy { $0.isEmpty && $0.ahead.isEmpty }, "lanes are not empty")
        let isTame = run.grants < steps / 20 || run.deadlocks == 0 || run.readies < steps / 200
        expect(!isTame, "too tame: \(run.grants) grants, \(run.deadlocks) deadlocks, \(run.readies) asked")
        return faults
    }

    private static func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }
}

/// One random history applied to both.
struct ModelRun {
    var table = ClaimTable()
    private(set) var reference = ReferenceTable()
    /// What was done last, told only when it is asked for.
    private(set) var recent: [@Sendable () -> String] = []
    private(set) var grants: UInt64 = 0
    private(set) var deadlocks: UInt64 = 0
    private(set) var readies: UInt64 = 0
    private let living: Int
    private var random: SeededGenerator
    private var nextID: UInt64 = 1
    private var now = Duration.zero
    private var count = 0
    /// Whether something was moved since the graph was searched for cycles.
    private var hasMoved = false
    private let paths: [RelativePath]
    private let purposes = [Purpose.mount, Purpose("p"), Purpose("q"), Purpose("r"), Purpose("s")]

    init(seed: UInt64, living: Int, paths count: Int) {
        random = SeededGenerator(seed: seed)
        self.living = living
        let names = ["a", "k.pkg", "b"]
        let all =
            [.root]
            + names.flatMap { x in
                [RelativePath(stringLiteral: x)]
                    + names.flatMap { y in ["\(x)/\(y)", "\(x)/\(y)/c"].map { RelativePath(stringLiteral: $0) } }
            }
        paths = Array(all.prefix(count))
    }

    /// Does one thing to both. Returns what they disagree on.
    mutating func step() -> String? {
        count += 1
        now += .milliseconds(1)
        let (actions, outcomes) = act()
        let mine = actions.map(Self.outcome)
        grants += UInt64(actions.granted.count)
        for case .ready in actions { readies += 1 }
        if Set(mine) != Set(outcomes) || mine.count != outcomes.count {
            return "the table says \(mine), the reference \(outcomes)"
        }
        for case .fail(let id, let error) in actions {
            guard case .deadlock(let cycle) = error.code else { continue }
            deadlocks += 1
            if cycle.count < 2 || cycle[0].id != id { return "a cycle that is none: \(error)" }
        }
        return compare()
    }

    /// Releases holders until nothing is left.
    mutating func drain() {
        while let entry = reference.entries.first(where: { $0.heldSince != nil || $0.isAsking }) {
            _ = entry.isAsking ? reference.proceed(entry.id) : reference.release(entry.id)
            _ = entry.isAsking ? table.proceed(entry.id) : table.release(entry.id)
        }
    }

    private mutating func compare() -> String? {
        if count % 4 == 0, let (left, right) = reference.incompatibleHolders() {
            return "\(left) and \(right) are both held"
        }
        for entry in reference.entries {
            if table.isHeld(entry.id) != (entry.heldSince != nil) { return "\(entry.id) is held in one only" }
            if count % 4 == 0, table.accesses(of: entry.id) != entry.accesses {
                return "\(entry.id) is at different paths"
            }
        }
        if table.index.count != reference.entries.count { return "the table keeps more than the reference" }
        guard count % 32 == 0 || hasMoved else { return nil }
        hasMoved = false
        if reference.hasLostWaiter() { return "a waiter was forgotten" }
        if reference.hasCycle() { return "there is a cycle" }
        if !reference.entries.isEmpty, !reference.entries.contains(where: { $0.heldSince != nil || $0.isAsking }) {
            return "everybody waits and nobody holds"
        }
        let asking = Set(reference.entries.filter(\.isAsking).map(\.id))
        for report in table.reports(now: now) where !report.isHeld && !asking.contains(report.id) {
            guard let blocker = report.waitsFor else { return "\(report.id) waits for nobody" }
            if !reference.isInTheWay(blocker, of: report.id) { return "\(blocker) is not in the way of \(report.id)" }
        }
        return nil
    }

    private mutating func act() -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let living = reference.entries
        let dice = Int.random(in: 0..<100, using: &random)
        if living.isEmpty || dice < 46 && living.count < self.living { return request() }
        let chosen = living[Int.random(in: 0..<living.count, using: &random)]
        let asking = living.filter(\.isAsking)
        if !asking.isEmpty, dice < 70 { return question(asking[Int.random(in: 0..<asking.count, using: &random)].id) }
        switch dice {
        case ..<80:
            let held = living.filter { $0.heldSince != nil }
            let id = held.isEmpty ? chosen.id : held[Int.random(in: 0..<held.count, using: &random)].id
            note { "release \(id)" }
            return (table.release(id), reference.release(id))
        case ..<86:
            note { "cancel \(chosen.id)" }
            return (table.cancel(chosen.id), reference.cancel(chosen.id))
        case ..<96:
            return move()
        case ..<98:
            note { [now] in "expire \(now)" }
            return (table.expire(now: now), reference.expire(now: now))
        default:
            let client = ClientID(UInt64.random(in: 0..<4, using: &random))
            note { "client \(client.rawValue) gone" }
            return (table.removed(client: client), reference.removed(client: client))
        }
    }

    /// Somebody is asked for `id`, or answers, or all have.
    private mutating func question(_ id: ClaimID) -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let dice = Int.random(in: 0..<4, using: &random)
        if dice < 2 {
            note { "proceed \(id)" }
            return (table.proceed(id), reference.proceed(id))
        }
        let purpose = purposes[Int.random(in: 0..<purposes.count, using: &random)]
        let respondent: Respondent =
            purpose == .mount ? .process(Int32.random(in: 0..<3, using: &random)) : .purpose(purpose)
        let isAsked = reference.entries.contains { $0.id == id && $0.asked[respondent] != nil }
        if isAsked {
            note { "\(respondent) answers \(id)" }
            table.answered(id, respondent)
            reference.answered(id, respondent)
        } else {
            note { "\(id) asks \(respondent)" }
            table.ask(id, respondent)
            reference.ask(id, respondent)
        }
        return ([], [])
    }

    private mutating func request() -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let accesses = (0..<(Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1)).map { _ in access() }
        let purpose = purposes[Int.random(in: 0..<purposes.count, using: &random)]
        let client = ClientID(UInt64.random(in: 0..<8, using: &random))
        let hasDeadline = Int.random(in: 0..<4, using: &random) == 0
        var request = ClaimRequest(
            id: ClaimID(nextID), accesses: accesses, purpose: purpose, client: client,
            processID: Int32(client.rawValue % 3),
            isNested: purpose != .mount && Int.random(in: 0..<4, using: &random) > 0, now: now,
            deadline: hasDeadline ? now + .milliseconds(Int.random(in: 0..<40, using: &random)) : nil)
        request.asksFirst = Int.random(in: 0..<3, using: &random) == 0
        nextID += 1
        let trial = Int.random(in: 0..<8, using: &random) == 0
        note { [request] in "\(trial ? "try" : "ask") \(request)" }
        guard trial else { return (table.request(request), reference.request(request)) }
        let action = table.tryRequest(request)
        let outcomes = reference.request(request)
        if outcomes.isEmpty || outcomes == [.ready(request.id)] {
            _ = reference.cancel(request.id)
            return (action.map { [$0] } ?? [], [])
        }
        return (action.map { [$0] } ?? [], outcomes)
    }

    private mutating func move() -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let (from, to) = (path(), path())
        guard !from.isRoot, !to.isRoot, !to.isInside(from), !from.isInside(to) else { return request() }
        var moves = [ClaimTable.Move(from: from, to: to, destinationPackage: Self.package(of: to))]
        if Int.random(in: 0..<4, using: &random) == 0 {
            moves.append(ClaimTable.Move(from: to, to: from, destinationPackage: Self.package(of: from)))
        }
        hasMoved = true
        note { [moves] in "move \(moves.map { "\($0.from) -> \($0.to)" })" }
        return (table.moved(moves), reference.moved(moves))
    }

    private mutating func access() -> Access {
        let path = path()
        let root = Self.package(of: path)
        if Bool.random(using: &random) { return .reading(path, packageRoot: root) }
        let options = WritingOption.allCases
        return .writing(path, options[Int.random(in: 0..<options.count, using: &random)], packageRoot: root)
    }

    private mutating func path() -> RelativePath { paths[Int.random(in: 0..<paths.count, using: &random)] }

    /// The outermost `k.pkg` on the way to `path`.
    private static func package(of path: RelativePath) -> RelativePath? {
        let names = path.components
        return names.firstIndex(of: "k.pkg").map { RelativePath(names[...$0]) }
    }

    private mutating func note(_ text: @escaping @Sendable () -> String) {
        recent.append(text)
        if recent.count > 40 { recent.removeFirst() }
    }

    private static func outcome(_ action: ClaimAction) -> ReferenceTable.Outcome {
        switch action {
        case .grant(let id, _): .grant(id)
        case .ready(let id, _): .ready(id)
        case .fail(let id, let error):
            switch error.code {
            case .deadlock: .deadlock(id)
            case .deadline: .deadline(id)
            case .cancelled, .refused, .invalid: .cancelled(id)
            }
        }
    }
}
