/// Cycles of waiting.
///
/// An edge leads from a waiter to each claim in its way, from a holder to each nested request of its purpose that
/// was made while it held: it does not end before that one was answered; and from one that asks others to each request
/// that these made meanwhile.
extension ClaimTable {
    /// How much of a lane the search has been through.
    private struct Coverage {
        /// Everything younger than this was seen.
        var all = UInt64.max
        /// Everything younger than this was seen, except what has the purpose `exception`.
        var most = UInt64.max
        var exception: Int32 = -1
    }

    /// Everybody who, directly or through others, waits for one of `goals`, each with the next on the way there.
    /// The goals are in it with -1, unless one of them waits for itself.
    func waiters(leadingTo goals: [Int32]) -> [Int32: Int32] {
        var next: [Int32: Int32] = [:]
        var queue: [Int32] = []
        func add(_ slot: Int32, before: Int32) {
            if let known = next[slot] {
                if known < 0, before >= 0 { next[slot] = before }
                return
            }
            next[slot] = before
            queue.append(slot)
            let record = records[Int(slot)]
            guard !record.isHeld else { return }
            for asker in askers(of: record) where next[asker] == nil { add(asker, before: slot) }
            guard record.isNested else { return }
            for holder in purposes[record.purpose].held where records[Int(holder)].encloses(order: record.order) {
                if next[holder] == nil { add(holder, before: slot) }
            }
        }
        for goal in goals { add(goal, before: -1) }
        var coverage: [Int: Coverage] = [:]
        while let current = queue.popLast() {
            forEachWaiter(for: current, &coverage) { add($0, before: current) }
        }
        return next
    }

    /// The cycle that `slot` would close by waiting for `other`.
    func cycle(from slot: Int32, through other: Int32, _ next: [Int32: Int32]) -> [ClaimReport] {
        var cycle = [report(slot, now: records[Int(slot)].since)]
        var current = other
        while current >= 0, current != slot {
            cycle.append(report(current, now: records[Int(slot)].since))
            current = next[current] ?? -1
        }
        return cycle
    }

    /// Fails the youngest waiter that is in a cycle, and for which an older claim waits, until there is none. Only a move
    /// makes cycles.
    ///
    /// Every cycle has such a waiter, as all other edges lead to something older: one that is nested, or on account of a
    /// question, or that went ahead of others while it was.
    mutating func breakCycles() -> [ClaimAction] {
        var actions: [ClaimAction] = []
        while purposes.nestedWaitingCount > 0 || !asked.isEmpty || overtaking > 0, let (slot, cycle) = youngestInCycle()
        {
            actions += fail(slot, .deadlock(cycle: cycle))
        }
        return actions
    }

    private func youngestInCycle() -> (Int32, [ClaimReport])? {
        var candidates = purposes.records.flatMap { $0.live > 0 ? $0.nestedWaiting : [] }
        if !asked.isEmpty || overtaking > 0 {
            candidates += liveSlots.filter { slot in
                let record = records[Int(slot)]
                guard !record.isHeld, !record.isNested else { return false }
                return !record.overtook.isEmpty || !askers(of: record).isEmpty
            }
        }
        for slot in candidates.sorted(by: { records[Int($0)].order > records[Int($1)].order }) {
            let next = waiters(leadingTo: [slot])
            if let other = next[slot], other >= 0 { return (slot, cycle(from: slot, through: other, next)) }
        }
        return nil
    }

    /// Calls `body` with the waiters that `slot` is in the way of, leaving out some that the search saw before.
    private func forEachWaiter(for slot: Int32, _ coverage: inout [Int: Coverage], _ body: (Int32) -> Void) {
        let record = records[Int(slot)]
        let bound = record.isHeld ? 0 : record.order
        func visit(_ lane: Int) {
            guard !lanes[lane].isEmpty else { return }
            // Who went ahead of some waits for only part of a lane, so one visit does not stand for another.
            guard overtaking > 0 || cover(&coverage[lane, default: Coverage()], bound, record.purpose) else { return }
            for entry in lanes[lane].entries where entry.slot >= 0 && entry.order > bound {
                guard entry.purpose != record.purpose, !records[Int(entry.slot)].isHeld else { continue }
                if record.isHeld || !records[Int(entry.slot)].overtook.contains(record.order) { body(entry.slot) }
            }
        }
        for key in record.keys {
            forEachLane(beside: key, visit)
            if key.lane == .trees { forEachLane(below: key.node, visit) }
        }
        guard !record.overtook.isEmpty else { return }
        for (other, candidate) in records.enumerated() where record.overtook.contains(candidate.order) {
            guard case .waiting = candidate.phase, conflict(slot, Int32(other)) else { continue }
            body(Int32(other))
        }
    }

    /// Notes a visit. Returns whether there is anything new to see.
    private func cover(_ coverage: inout Coverage, _ bound: UInt64, _ purpose: Int32) -> Bool {
        if bound >= coverage.all { return false }
        if purpose == coverage.exception {
            guard bound < coverage.most else { return false }
            coverage.most = bound
        } else if bound >= coverage.most {
            coverage.all = bound
        } else {
            coverage.all = coverage.exception >= 0 ? coverage.most : coverage.all
            coverage.most = bound
            coverage.exception = purpose
        }
        return true
    }
}
