/// Who holds and who waits for which items: requests, releases and moves in, actions out.
///
/// The rules, after dropping pairs of the same purpose:
///
///     holder or older waiter ▸ newcomer      read X   write X   write X with a tree option
///     read X                                   -       wait       wait
///     write X, any option                     wait     wait       wait
///     anything below X                         -        -         wait
///     write with a tree option above X        wait     wait       wait
///
/// An item inside a package counts as the package. A request waits for what was asked for before it, held or not, so
/// nobody starves and neighbouring readers run together. There is one exception: a nested request goes ahead of waiters
/// that wait for what its own purpose holds, because those claims will not end before it was answered, and a request of
/// somebody who is being asked goes ahead of the one on whose behalf. Where it would wait for a *holder* that waits for
/// them, it fails with `.deadlock`. No cycle comes into being otherwise, except by a move; then the youngest
/// request in it for which an older one waits fails.
///
/// A request that asks first is not granted when its turn comes but becomes `.ready`; it keeps its place until `proceed`.
///
/// A waiter is parked on one claim that is in its way (the youngest), and looks again when that one ends. So 100,000
/// waiters for one item are resolved in about linear time.
///
/// A value: no clock, no lock, no callback. `Coordinator` owns one.
package struct ClaimTable {
    var records: [ClaimRecord] = []
    var freeSlots: [Int32] = []
    /// By their ids.
    var index = SlotIndex()
    var trie = PathTrie(idleLimit: 64)
    /// Three a node, by `ClaimRecord.Key.laneIndex`.
    var lanes = Array(repeating: Lane(), count: LaneKind.allCases.count)
    /// How many entries the lanes of kind `.trees` have altogether.
    var treeEntries = 0
    var purposes = PurposeBook()
    var clients: [ClientID: Set<ClaimID>] = [:]
    var deadlines = DeadlineHeap()
    var waitingWithDeadline = 0
    var nextOrder: UInt64 = 1
    /// How many waiters went ahead of others.
    var overtaking = 0
    /// Who is asked before whose request goes on.
    var asked: [Respondent: [Asking]] = [:]

    package init() {}

    /// Where a claim that is held or waited for is.
    func slot(of id: ClaimID) -> Int32? {
        index.find(SlotIndex.hash(id.rawValue)) { records[Int($0)].id == id }
    }

    /// Where all of them are.
    var liveSlots: [Int32] {
        records.indices.compactMap { if case .free = records[$0].phase { nil } else { Int32($0) } }
    }

    /// Whether nothing is held and nobody waits.
    package var isEmpty: Bool { index.isEmpty }

    /// Whether a claim of another purpose than the mount's is held or waited for.
    package var hasExplicitClaims: Bool { purposes.explicitCount > 0 }

    /// Whether `id` is held.
    package func isHeld(_ id: ClaimID) -> Bool { slot(of: id).map { records[Int($0)].isHeld } ?? false }

    /// The accesses of `id` with the paths of now; nil where it neither is held nor waits.
    package func accesses(of id: ClaimID) -> [Access]? { slot(of: id).map { records[Int($0)].accesses } }

    /// Enters a request.
    /// - Returns: its grant, its failure, or nothing: then it waits.
    package mutating func request(_ request: ClaimRequest) -> [ClaimAction] {
        enter(request, waits: true).map { [$0] } ?? []
    }

    /// Enters a request only where it need not wait.
    /// - Returns: its grant or its failure; nil where it would wait, and then nothing is kept of it.
    package mutating func tryRequest(_ request: ClaimRequest) -> ClaimAction? {
        enter(request, waits: false)
    }

    /// Ends a claim that is held. Unknown ids and waiters are left alone, so a second release does nothing.
    package mutating func release(_ id: ClaimID) -> [ClaimAction] {
        guard let slot = slot(of: id), records[Int(slot)].isHeld else { return [] }
        return remove(slot)
    }

    /// Ends a request that waits, with `.cancelled`. Unknown ids and holders are left alone.
    package mutating func cancel(_ id: ClaimID) -> [ClaimAction] {
        guard let slot = slot(of: id), !records[Int(slot)].isHeld else { return [] }
        return fail(slot, .cancelled)
    }

    /// Ends a request that waits or asks, because somebody who was asked refused. Unknown ids and holders are left alone.
    package mutating func refuse(_ id: ClaimID, _ reason: String) -> [ClaimAction] {
        guard let slot = slot(of: id), !records[Int(slot)].isHeld else { return [] }
        return fail(slot, .refused(reason: reason))
    }

    /// Whether a claim that `process` holds, other than the mount's, already gives it `access`.
    package func covers(_ access: Access, process: Int32) -> Bool {
        guard hasExplicitClaims else { return false }
        let isRead = access.lane == .reads
        func holds(_ node: Int32, _ kinds: [LaneKind]) -> Bool {
            kinds.contains { kind in
                lanes[ClaimRecord.Key(node: node, lane: kind).laneIndex].entries.contains { entry in
                    guard entry.slot >= 0 else { return false }
                    let record = records[Int(entry.slot)]
                    return record.isHeld && record.processID == process && purposes[record.purpose].purpose != .mount
                }
            }
        }
        if let node = trie.node(at: access.key), holds(node, isRead ? LaneKind.allCases : [.writes, .trees]) {
            return true
        }
        return treeEntries > 0 && trie.nodes(above: access.key).contains { holds($0, [.trees]) }
    }

    /// Ends the waiters whose deadline is not after `now`, earliest first.
    package mutating func expire(now: Duration) -> [ClaimAction] {
        var actions: [ClaimAction] = []
        while let entry = deadlines.popFirst(notAfter: now) {
            if isWaiting(entry) { actions += fail(entry.slot, .deadline) }
        }
        return actions
    }

    /// Ends all that a client holds and waits for; its waiters fail with `.cancelled`.
    package mutating func removed(client: ClientID) -> [ClaimAction] {
        var actions: [ClaimAction] = []
        // Waiters first: none of them shall be granted for a moment.
        let ids = (clients[client] ?? []).sorted()
        for id in ids { actions += cancel(id) }
        for id in ids { actions += release(id) }
        return actions
    }

    private mutating func enter(_ request: ClaimRequest, waits: Bool) -> ClaimAction? {
        if let reason = request.invalidity { return .fail(request.id, CoordinationError(.invalid(reason: reason))) }
        guard slot(of: request.id) == nil else {
            return .fail(request.id, CoordinationError(.invalid(reason: "\(request.id) is in use")))
        }
        let slot = insert(request)
        switch decide(slot) {
        case .grant where request.asksFirst:
            guard waits else {
                withdraw(slot)
                return nil
            }
            startWaiting(slot, parkedOn: nil)
            return startAsking(slot)
        case .grant:
            return grant(slot)
        case .wait(let blocker):
            guard waits else {
                withdraw(slot)
                return nil
            }
            startWaiting(slot, parkedOn: blocker)
            return nil
        case .deadlock(let cycle):
            withdraw(slot)
            return .fail(request.id, CoordinationError(.deadlock(cycle: cycle)))
        }
    }
}
