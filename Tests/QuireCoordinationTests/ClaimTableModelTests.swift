import Glibc
@testable import QuireCoordination
import QuireCore
import Testing

/// Random histories against `ReferenceTable`. `QUIRE_TEST_SEED` and `QUIRE_TEST_STEPS` change what is tried.
@Suite("Claim table against the reference")
struct ClaimTableModelTests {
    @Test("After every random step the table and the reference agree on who holds, who waits and who failed")
    func randomHistories() throws {
        let seed = number("QUIRE_TEST_SEED") ?? UInt64.random(in: 0..<1_000_000)
        let steps = number("QUIRE_TEST_STEPS") ?? 200_000
        var run = ModelRun(seed: seed)
        for step in 0..<steps {
            if let difference = run.step() {
                let history = run.recent.map { $0() }.joined(separator: "\n")
                Issue.record("seed \(seed), step \(step): \(difference)\n\(history)")
                return
            }
        }
        run.drain()
        #expect(run.table.isEmpty, "seed \(seed)")
        #expect(!run.table.hasExplicitClaims, "seed \(seed)")
        #expect(run.table.treeEntries == 0, "seed \(seed)")
        #expect(run.table.lanes.allSatisfy { $0.isEmpty && $0.ahead.isEmpty }, "seed \(seed)")
        #expect(run.table.trie.nodes[0].firstChild == -1, "seed \(seed)")
        #expect(run.grants > steps / 20 && run.deadlocks > 0, "seed \(seed): the history is too tame")
        print("claim table model: seed \(seed), \(steps) steps, \(run.grants) grants, \(run.deadlocks) deadlocks")
    }

    private func number(_ variable: String) -> UInt64? {
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
    private var random: SeededGenerator
    private var nextID: UInt64 = 1
    private var now = Duration.zero
    private var count = 0
    private let paths: [RelativePath]
    private let purposes = [Purpose.mount, Purpose("p"), Purpose("q"), Purpose("r"), Purpose("s")]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let names = ["a", "b", "k.pkg"]
        paths =
            [.root]
            + names.flatMap { x in
                [RelativePath(stringLiteral: x)]
                    + names.flatMap { y in ["\(x)/\(y)", "\(x)/\(y)/c"].map { RelativePath(stringLiteral: $0) } }
            }
    }

    /// Does one thing to both. Returns what they disagree on.
    mutating func step() -> String? {
        count += 1
        now += .milliseconds(1)
        let (actions, outcomes) = act()
        let mine = actions.map(Self.outcome)
        grants += UInt64(actions.granted.count)
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
        while let held = reference.entries.first(where: { $0.heldSince != nil }) {
            _ = reference.release(held.id)
            _ = table.release(held.id)
        }
    }

    private func compare() -> String? {
        if count % 4 == 0, let (left, right) = reference.incompatibleHolders() {
            return "\(left) and \(right) are both held"
        }
        for entry in reference.entries {
            if table.isHeld(entry.id) != (entry.heldSince != nil) { return "\(entry.id) is held in one only" }
            if count % 4 == 0, table.accesses(of: entry.id) != entry.accesses {
                return "\(entry.id) is at different paths"
            }
        }
        if table.slots.count != reference.entries.count { return "the table keeps more than the reference" }
        guard count % 16 == 0 else { return nil }
        if reference.hasLostWaiter() { return "a waiter was forgotten" }
        if reference.hasCycle() { return "there is a cycle" }
        if !reference.entries.isEmpty, !reference.entries.contains(where: { $0.heldSince != nil }) {
            return "everybody waits and nobody holds"
        }
        for report in table.reports(now: now) where !report.isHeld {
            guard let blocker = report.waitsFor else { return "\(report.id) waits for nobody" }
            if !reference.isInTheWay(blocker, of: report.id) { return "\(blocker) is not in the way of \(report.id)" }
        }
        return nil
    }

    private mutating func act() -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let living = reference.entries
        let dice = Int.random(in: 0..<100, using: &random)
        if living.isEmpty || dice < 46 && living.count < 14 { return request() }
        let chosen = living[Int.random(in: 0..<living.count, using: &random)]
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

    private mutating func request() -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let accesses = (0..<(Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1)).map { _ in access() }
        let purpose = purposes[Int.random(in: 0..<purposes.count, using: &random)]
        let client = ClientID(UInt64.random(in: 0..<8, using: &random))
        let hasDeadline = Int.random(in: 0..<4, using: &random) == 0
        let request = ClaimRequest(
            id: ClaimID(nextID), accesses: accesses, purpose: purpose, client: client,
            isNested: purpose != .mount && Int.random(in: 0..<4, using: &random) > 0, now: now,
            deadline: hasDeadline ? now + .milliseconds(Int.random(in: 0..<40, using: &random)) : nil)
        nextID += 1
        let trial = Int.random(in: 0..<8, using: &random) == 0
        note { "\(trial ? "try" : "ask") \(request)" }
        guard trial else { return (table.request(request), reference.request(request)) }
        let action = table.tryRequest(request)
        let outcomes = reference.request(request)
        if outcomes.isEmpty { _ = reference.cancel(request.id) }
        return (action.map { [$0] } ?? [], outcomes)
    }

    private mutating func move() -> ([ClaimAction], [ReferenceTable.Outcome]) {
        let (from, to) = (path(), path())
        guard !from.isRoot, !to.isRoot, !to.isInside(from), !from.isInside(to) else { return request() }
        var moves = [ClaimTable.Move(from: from, to: to, destinationPackage: Self.package(of: to))]
        if Int.random(in: 0..<4, using: &random) == 0 {
            moves.append(ClaimTable.Move(from: to, to: from, destinationPackage: Self.package(of: from)))
        }
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
        case .fail(let id, let error):
            switch error.code {
            case .deadlock: .deadlock(id)
            case .deadline: .deadline(id)
            case .cancelled, .invalid: .cancelled(id)
            }
        }
    }
}
