/// Who is in whose way.
extension ClaimTable {
    enum Decision {
        case grant
        case wait(Int32)
        case deadlock([ClaimReport])
    }

    /// What becomes of a request that was just put into the lanes.
    mutating func decide(_ slot: Int32) -> Decision {
        // The only one there is.
        guard index.count > 1, let blocker = blocker(of: slot) else { return .grant }
        let record = records[Int(slot)]
        let holders = record.isNested ? purposes[record.purpose].held : []
        let askers = askers(of: record)
        guard !holders.isEmpty || !askers.isEmpty else { return .wait(blocker) }
        let blockers = allBlockers(of: slot)
        if !record.asksFirst, isCovered(slot, by: holders), !blockers.contains(where: { records[Int($0)].isHeld }) {
            putAhead(slot)
            return .grant
        }
        let waiters = waiters(leadingTo: holders + askers)
        var overtaken: [Int32] = []
        for other in blockers where waiters[other] != nil {
            if records[Int(other)].isHeld { return .deadlock(cycle(from: slot, through: other, waiters)) }
            overtaken.append(other)
        }
        guard !overtaken.isEmpty else { return .wait(blocker) }
        records[Int(slot)].overtook = Set(overtaken.map { records[Int($0)].order })
        let remaining = self.blocker(of: slot)
        if remaining == nil, !record.asksFirst {
            putAhead(slot)
            return .grant
        }
        for other in overtaken { records[Int(other)].overtakenBy.append((slot, record.order)) }
        return remaining.map { .wait($0) } ?? .grant
    }

    /// One claim that `slot` waits for: the youngest, except among those below a tree.
    mutating func blocker(of slot: Int32) -> Int32? {
        let record = records[Int(slot)]
        var found: Int32?
        for key in record.keys {
            let first = Int(key.node) * LaneKind.allCases.count
            if key.lane != .reads { keepYoungest(in: first + LaneKind.reads.rawValue, before: record, slot, &found) }
            keepYoungest(in: first + LaneKind.writes.rawValue, before: record, slot, &found)
            keepYoungest(in: first + LaneKind.trees.rawValue, before: record, slot, &found)
            guard treeEntries > 0 else { continue }
            var node = trie.nodes[Int(key.node)].parent
            while node >= 0 {
                let lane = Int(node) * LaneKind.allCases.count + LaneKind.trees.rawValue
                keepYoungest(in: lane, before: record, slot, &found)
                node = trie.nodes[Int(node)].parent
            }
        }
        if let found { return found }
        for entry in record.overtakenBy where records[Int(entry.slot)].order == entry.order {
            guard !isFree(entry.slot), conflict(slot, entry.slot) else { continue }
            return entry.slot
        }
        for key in record.keys where key.lane == .trees {
            if let below = anyBlocker(below: key.node, of: slot) { return below }
        }
        return nil
    }

    /// Whether something its own purpose holds already keeps everybody out whom `slot` keeps out.
    private func isCovered(_ slot: Int32, by holders: [Int32]) -> Bool {
        records[Int(slot)].keys.allSatisfy { key in
            holders.contains { holder in
                records[Int(holder)].keys.contains { covers($0, key) }
            }
        }
    }

    private func covers(_ held: ClaimRecord.Key, _ key: ClaimRecord.Key) -> Bool {
        if held.node == key.node { return held.lane.rawValue >= key.lane.rawValue }
        return held.lane == .trees && isAncestor(held.node, of: key.node)
    }

    /// Marks a holder that older waiters do not find by looking at what is older than they are.
    mutating func putAhead(_ slot: Int32) {
        for key in records[Int(slot)].keys where !lanes[key.laneIndex].ahead.contains(slot) {
            lanes[key.laneIndex].ahead.append(slot)
        }
    }

    private mutating func keepYoungest(in lane: Int, before record: ClaimRecord, _ slot: Int32, _ found: inout Int32?) {
        guard !lanes[lane].isEmpty, let other = youngest(in: lane, before: record, slot) else { return }
        if let best = found, records[Int(best)].order > records[Int(other)].order { return }
        found = other
    }

    private mutating func youngest(in lane: Int, before record: ClaimRecord, _ slot: Int32) -> Int32? {
        var found: Int32?
        if record.overtook.isEmpty {
            found = lanes[lane].latest(before: record.order, otherThan: record.purpose)
        } else {
            let entry = lanes[lane].entries.last { entry in
                entry.slot >= 0 && entry.order < record.order && entry.purpose != record.purpose
                    && (records[Int(entry.slot)].isHeld || !record.overtook.contains(entry.order))
            }
            found = entry?.slot
        }
        if let found { return found }
        return lanes[lane].ahead.first { other in
            other != slot && records[Int(other)].isHeld && records[Int(other)].purpose != record.purpose
        }
    }

    /// Any claim below `node` that is in the way. Chosen as if by lot, so that a release in whatever order seldom makes
    /// the waiter look again in vain.
    private func anyBlocker(below node: Int32, of slot: Int32) -> Int32? {
        let record = records[Int(slot)]
        var found: Int32?
        var count: UInt64 = 0
        var lot = record.order &* 0x9E37_79B9_7F4A_7C15
        forEachLane(below: node) { lane in
            for entry in lanes[lane].entries where entry.slot >= 0 && isBlocker(entry.slot, of: record) {
                count += 1
                lot = lot &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                if (lot >> 33) % count == 0 { found = entry.slot }
            }
        }
        return found
    }

    /// Everything that `slot` waits for.
    func allBlockers(of slot: Int32) -> [Int32] {
        let record = records[Int(slot)]
        var found: [Int32] = []
        var seen: Set<Int32> = []
        func visit(_ lane: Int) {
            for entry in lanes[lane].entries where entry.slot >= 0 && isBlocker(entry.slot, of: record) {
                if seen.insert(entry.slot).inserted { found.append(entry.slot) }
            }
        }
        for key in record.keys {
            forEachLane(beside: key, visit)
            if key.lane == .trees { forEachLane(below: key.node, visit) }
        }
        return found
    }

    /// Of two that conflict by place: whether `other` is in the way of `record`.
    private func isBlocker(_ other: Int32, of record: ClaimRecord) -> Bool {
        let other = records[Int(other)]
        guard other.purpose != record.purpose else { return false }
        if other.isHeld { return true }
        return other.order < record.order && (record.overtook.isEmpty || !record.overtook.contains(other.order))
    }

    private func isFree(_ slot: Int32) -> Bool {
        if case .free = records[Int(slot)].phase { true } else { false }
    }

    /// Whether two claims of different purposes cannot be held together.
    func conflict(_ left: Int32, _ right: Int32) -> Bool {
        records[Int(left)].keys.contains { left in
            records[Int(right)].keys.contains { right in
                if left.node == right.node { return left.lane != .reads || right.lane != .reads }
                return left.lane == .trees && isAncestor(left.node, of: right.node)
                    || right.lane == .trees && isAncestor(right.node, of: left.node)
            }
        }
    }

    private func isAncestor(_ ancestor: Int32, of node: Int32) -> Bool {
        var node = trie.nodes[Int(node)].parent
        while node >= 0 {
            if node == ancestor { return true }
            node = trie.nodes[Int(node)].parent
        }
        return false
    }

    /// The lanes at the key's path, and those of trees above it, whose claims conflict with one of `key`.
    func forEachLane(beside key: ClaimRecord.Key, _ body: (Int) -> Void) {
        let first = Int(key.node) * LaneKind.allCases.count
        if key.lane != .reads { body(first + LaneKind.reads.rawValue) }
        body(first + LaneKind.writes.rawValue)
        body(first + LaneKind.trees.rawValue)
        guard treeEntries > 0 else { return }
        var node = trie.nodes[Int(key.node)].parent
        while node >= 0 {
            body(Int(node) * LaneKind.allCases.count + LaneKind.trees.rawValue)
            node = trie.nodes[Int(node)].parent
        }
    }

    /// All lanes strictly below `node`.
    func forEachLane(below node: Int32, _ body: (Int) -> Void) {
        trie.forEachDescendant(of: node) { node in
            let first = Int(node) * LaneKind.allCases.count
            for lane in first..<(first + LaneKind.allCases.count) where !lanes[lane].isEmpty { body(lane) }
            return true
        }
    }
}
