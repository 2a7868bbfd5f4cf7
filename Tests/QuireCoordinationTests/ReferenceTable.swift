import QuireCoordination
import QuireCore

/// The rules of `ClaimTable` once more, as plainly as possible: every pair of claims is compared, every graph is walked
/// edge by edge, and after each step everybody is asked anew.
struct ReferenceTable {
    struct Entry {
        let id: ClaimID
        let order: Int
        let purpose: Purpose
        let client: ClientID?
        let isNested: Bool
        let deadline: Duration?
        var accesses: [Access]
        /// The order of the first request that was made while this was held; nil while it waits.
        var heldSince: Int?
        var overtook: Set<Int> = []
        /// The orders of the claims of other purposes that cannot be held together with this one.
        var conflicts: Set<Int> = []
        /// Whether others are still to be asked before it is granted, and whether they are being asked.
        var asksFirst: Bool
        var isAsking = false
        /// Who is asked, each with the order of the first request that is on account of it.
        var asked: [Respondent: Int] = [:]
        let processID: Int32?
        /// Holders that were held already when a move brought both to one place.
        var tolerated: Set<Int> = []
    }

    enum Outcome: Hashable {
        case grant(ClaimID)
        case ready(ClaimID)
        case deadlock(ClaimID)
        case deadline(ClaimID)
        case cancelled(ClaimID)
    }

    private(set) var entries: [Entry] = []
    private var nextOrder = 0

    /// The wait table, for two accesses of different purposes.
    static func conflict(_ left: Access, _ right: Access) -> Bool {
        guard isWrite(left) || isWrite(right) else { return false }
        let (leftKey, rightKey) = (left.packageRoot ?? left.path, right.packageRoot ?? right.path)
        if leftKey == rightKey { return true }
        if isTree(left), rightKey.isInside(leftKey) { return true }
        return isTree(right) && leftKey.isInside(rightKey)
    }

    private static func isWrite(_ access: Access) -> Bool {
        if case .writing = access.intent { true } else { false }
    }

    private static func isTree(_ access: Access) -> Bool {
        guard access.packageRoot == nil || access.packageRoot == access.path else { return false }
        return switch access.intent {
        case .writing(.deleting), .writing(.moving), .writing(.replacing): true
        default: false
        }
    }

    mutating func request(_ request: ClaimRequest) -> [Outcome] {
        let new = Entry(
            id: request.id, order: nextOrder, purpose: request.purpose, client: request.client,
            isNested: request.isNested, deadline: request.deadline, accesses: request.accesses,
            asksFirst: request.asksFirst, processID: request.processID)
        nextOrder += 1
        entries.append(new)
        updateConflicts(of: entries.count - 1)
        let index = entries.count - 1
        var blockers = blockers(of: index)
        let holders = entries.indices.filter { entries[$0].heldSince != nil && entries[$0].purpose == new.purpose }
        let goals = Set((new.isNested ? holders : []) + entries.indices.filter { asks(entries[$0], new) })
        if !goals.isEmpty, !blockers.isEmpty {
            let leading = blockers.filter { reaches($0, goals) }
            if leading.contains(where: { entries[$0].heldSince != nil }) {
                remove(index)
                return [.deadlock(request.id)]
            }
            entries[index].overtook = Set(leading.map { entries[$0].order })
            blockers.removeAll { leading.contains($0) }
        }
        guard blockers.isEmpty else { return [] }
        return [pass(index)]
    }

    /// Somebody is asked on behalf of one that is ready.
    mutating func ask(_ id: ClaimID, _ respondent: Respondent) {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.isAsking }) else { return }
        entries[index].asked[respondent] = min(entries[index].asked[respondent] ?? nextOrder, nextOrder)
    }

    mutating func answered(_ id: ClaimID, _ respondent: Respondent) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return }
        entries[index].asked[respondent] = nil
    }

    /// All were asked.
    mutating func proceed(_ id: ClaimID) -> [Outcome] {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.isAsking }) else { return [] }
        entries[index].asksFirst = false
        entries[index].isAsking = false
        entries[index].asked = [:]
        return grantAll()
    }

    /// One that nothing is in the way of is held, or asks first.
    private mutating func pass(_ index: Int) -> Outcome {
        if entries[index].asksFirst {
            entries[index].isAsking = true
            return .ready(entries[index].id)
        }
        entries[index].heldSince = nextOrder
        return .grant(entries[index].id)
    }

    /// Whether `asker` will not be granted before `request` was answered, as who made it is asked.
    private func asks(_ asker: Entry, _ request: Entry) -> Bool {
        let respondent: Respondent
        if request.purpose != .mount {
            respondent = .purpose(request.purpose)
        } else if let process = request.processID {
            respondent = .process(process)
        } else {
            return false
        }
        return asker.asked[respondent].map { $0 <= request.order } ?? false
    }

    mutating func release(_ id: ClaimID) -> [Outcome] {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.heldSince != nil }) else { return [] }
        remove(index)
        return grantAll()
    }

    mutating func cancel(_ id: ClaimID) -> [Outcome] { end(id, .cancelled(id)) }

    mutating func expire(now: Duration) -> [Outcome] {
        let late = entries.filter { $0.heldSince == nil && ($0.deadline ?? .seconds(1_000_000)) <= now }
        var outcomes: [Outcome] = []
        for entry in late.sorted(by: { ($0.deadline ?? .zero, $0.order) < ($1.deadline ?? .zero, $1.order) }) {
            outcomes += end(entry.id, .deadline(entry.id))
        }
        return outcomes
    }

    mutating func removed(client: ClientID) -> [Outcome] {
        var outcomes: [Outcome] = []
        for entry in entries where entry.client == client { outcomes += end(entry.id, .cancelled(entry.id)) }
        for entry in entries where entry.client == client { outcomes += release(entry.id) }
        return outcomes
    }

    mutating func moved(_ moves: [ClaimTable.Move]) -> [Outcome] {
        let affected = entries.indices.filter { index in
            entries[index].accesses.contains { access in moves.contains { access.path.isInside($0.from) } }
        }
        for index in affected {
            entries[index].accesses = entries[index].accesses.map { access in
                guard access.intent != .writing(.replacing) else { return access }
                guard let move = moves.first(where: { access.path.isInside($0.from) }) else { return access }
                let root = access.packageRoot.flatMap { $0.isInside(move.from) ? Self.moved($0, move) : nil }
                return Access(
                    access.intent, Self.moved(access.path, move), packageRoot: move.destinationPackage ?? root)
            }
        }
        for index in entries.indices where affected.contains(index) { updateConflicts(of: index) }
        for left in entries.indices where entries[left].heldSince != nil {
            for right in entries.indices where entries[right].heldSince != nil {
                entries[left].tolerated.insert(entries[right].order)
            }
        }
        var outcomes = grantAll()
        while let victim = youngestInCycle() {
            outcomes.append(.deadlock(entries[victim].id))
            remove(victim)
            outcomes += grantAll()
        }
        return outcomes
    }

    /// Two holders that must not be together; nil where all is well.
    func incompatibleHolders() -> (ClaimID, ClaimID)? {
        for left in entries where left.heldSince != nil {
            for right in entries where right.heldSince != nil && left.conflicts.contains(right.order) {
                if !left.tolerated.contains(right.order), !isInside(left, right), !isInside(right, left) {
                    return (left.id, right.id)
                }
            }
        }
        return nil
    }

    /// Whether following the edges from some waiter leads back to it: then it waits for ever.
    func hasCycle() -> Bool {
        entries.indices.contains { index in
            entries[index].heldSince == nil && successors(of: index).contains { reaches($0, [index]) }
        }
    }

    /// Whether somebody waits whom nothing is in the way of.
    func hasLostWaiter() -> Bool {
        entries.indices.contains { index in
            entries[index].heldSince == nil && !entries[index].isAsking && blockers(of: index).isEmpty
        }
    }

    /// Whether the first of the two is in the way of the second.
    func isInTheWay(_ holder: ClaimID, of waiter: ClaimID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == waiter }) else { return false }
        return blockers(of: index).contains { entries[$0].id == holder }
    }

    /// Whether an edge leads from one claim to the other.
    func hasEdge(from: ClaimID, to: ClaimID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.id == from }) else { return false }
        return successors(of: index).contains { entries[$0].id == to }
    }

    /// A holder nested in one that a move brought beside another holder is no better off than that one.
    private func isInside(_ inner: Entry, _ other: Entry) -> Bool {
        entries.contains { outer in
            outer.heldSince != nil && outer.purpose == inner.purpose && outer.tolerated.contains(other.order)
        }
    }

    private static func moved(_ path: RelativePath, _ move: ClaimTable.Move) -> RelativePath {
        path.removing(ancestor: move.from).map { move.to.appending($0) } ?? path
    }

    private mutating func end(_ id: ClaimID, _ outcome: Outcome) -> [Outcome] {
        guard let index = entries.firstIndex(where: { $0.id == id && $0.heldSince == nil }) else { return [] }
        remove(index)
        return [outcome] + grantAll()
    }

    private mutating func grantAll() -> [Outcome] {
        var outcomes: [Outcome] = []
        for index in entries.indices where entries[index].heldSince == nil {
            guard !entries[index].isAsking, blockers(of: index).isEmpty else { continue }
            outcomes.append(pass(index))
        }
        return outcomes
    }

    private mutating func remove(_ index: Int) {
        entries.remove(at: index)
    }

    private mutating func updateConflicts(of index: Int) {
        let entry = entries[index]
        entries[index].conflicts = []
        for other in entries.indices where other != index && entries[other].purpose != entry.purpose {
            let together = entry.accesses.contains { left in
                entries[other].accesses.contains { Self.conflict(left, $0) }
            }
            if together {
                entries[index].conflicts.insert(entries[other].order)
                entries[other].conflicts.insert(entry.order)
            } else if entries[other].conflicts.contains(entry.order) {
                entries[other].conflicts.remove(entry.order)
            }
        }
    }

    private func blockers(of index: Int) -> [Int] {
        guard !entries[index].conflicts.isEmpty else { return [] }
        return entries.indices.filter { isBlocker($0, of: index) }
    }

    private func isBlocker(_ other: Int, of index: Int) -> Bool {
        let (order, otherOrder) = (entries[index].order, entries[other].order)
        guard entries[index].conflicts.contains(otherOrder) else { return false }
        if entries[other].heldSince != nil || entries[other].overtook.contains(order) { return true }
        return otherOrder < order && !entries[index].overtook.contains(otherOrder)
    }

    private func successors(of index: Int) -> [Int] {
        let entry = entries[index]
        guard let heldSince = entry.heldSince else {
            guard !entry.asked.isEmpty else { return blockers(of: index) }
            return blockers(of: index)
                + entries.indices.filter { entries[$0].heldSince == nil && asks(entry, entries[$0]) }
        }
        return entries.indices.filter { other in
            let other = entries[other]
            guard other.heldSince == nil, other.isNested, other.purpose == entry.purpose else { return false }
            return other.order >= heldSince
        }
    }

    private func reaches(_ start: Int, _ targets: Set<Int>) -> Bool {
        var seen: Set<Int> = []
        var stack = [start]
        while let current = stack.popLast() {
            if targets.contains(current) { return true }
            guard seen.insert(current).inserted else { continue }
            stack += successors(of: current)
        }
        return false
    }

    private func youngestInCycle() -> Int? {
        entries.indices.reversed().first { index in
            let entry = entries[index]
            guard entry.heldSince == nil else { return false }
            let isAsked = entries.contains { asks($0, entry) }
            guard entry.isNested || isAsked || !entry.overtook.isEmpty else { return false }
            return successors(of: index).contains { reaches($0, [index]) }
        }
    }
}
