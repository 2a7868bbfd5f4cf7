/// Records coming and going.
extension ClaimTable {
    /// Makes a record and puts it into the lanes; it is neither held nor parked yet.
    mutating func insert(_ request: ClaimRequest) -> Int32 {
        let record = ClaimRecord(
            id: request.id, order: nextOrder, purpose: purposes.enter(request.purpose), accesses: request.accesses,
            isNested: request.isNested, client: request.client, processID: request.processID,
            asksFirst: request.asksFirst, since: request.now, deadline: request.deadline)
        nextOrder += 1
        let slot: Int32
        if let reused = freeSlots.popLast() {
            slot = reused
            records[Int(slot)] = record
        } else {
            slot = Int32(records.count)
            records.append(record)
        }
        index.insert(SlotIndex.hash(request.id.rawValue), slot)
        if let client = request.client { clients[client, default: []].insert(request.id) }
        addKeys(slot)
        return slot
    }

    /// Puts the record into the lanes of its paths.
    mutating func addKeys(_ slot: Int32) {
        let (order, purpose) = (records[Int(slot)].order, records[Int(slot)].purpose)
        let accesses = records[Int(slot)].accesses
        var keys: [ClaimRecord.Key] = []
        keys.reserveCapacity(accesses.count)
        for access in accesses {
            let node = trie.node(making: access.key)
            while lanes.count < trie.nodes.count * LaneKind.allCases.count { lanes.append(Lane()) }
            let key = ClaimRecord.Key(node: node, lane: access.lane)
            guard lanes[key.laneIndex].insert(order: order, slot: slot, purpose: purpose) else { continue }
            trie.use(node)
            if key.lane == .trees { treeEntries += 1 }
            keys.append(key)
        }
        records[Int(slot)].keys = keys
    }

    /// Takes the record out of the lanes.
    mutating func removeKeys(_ slot: Int32) {
        let order = records[Int(slot)].order
        let keys = records[Int(slot)].keys
        records[Int(slot)].keys = []
        for key in keys {
            _ = lanes[key.laneIndex].remove(order: order, slot: slot)
            if key.lane == .trees { treeEntries -= 1 }
            trie.endUse(key.node)
        }
    }

    /// Forgets a record that nothing is parked on and that is in no list but the lanes.
    mutating func withdraw(_ slot: Int32) {
        removeKeys(slot)
        let id = records[Int(slot)].id
        index.remove(SlotIndex.hash(id.rawValue), slot)
        if let client = records[Int(slot)].client {
            clients[client]?.remove(id)
            if clients[client]?.isEmpty == true { clients[client] = nil }
        }
        purposes.leave(records[Int(slot)].purpose)
        records[Int(slot)].phase = .free
        records[Int(slot)].accesses = []
        if !records[Int(slot)].overtook.isEmpty { records[Int(slot)].overtook = [] }
        if !records[Int(slot)].overtakenBy.isEmpty { records[Int(slot)].overtakenBy = [] }
        freeSlots.append(slot)
    }

    /// - Parameter blocker: nil for one that asks others.
    mutating func startWaiting(_ slot: Int32, parkedOn blocker: Int32?) {
        let record = records[Int(slot)]
        if record.isNested { records[Int(slot)].position = purposes.addNestedWaiting(slot, record.purpose) }
        if !record.overtook.isEmpty { overtaking += 1 }
        if let blocker { park(slot, on: blocker) }
        guard let deadline = record.deadline else { return }
        waitingWithDeadline += 1
        deadlines.insert(.init(deadline: deadline, order: record.order, slot: slot))
        if deadlines.entries.count > 2 * waitingWithDeadline + 64 {
            let records = records
            deadlines.sweep { entry in Self.isWaiting(entry, records) }
        }
    }

    /// What is undone when a waiter is granted or fails.
    mutating func stopWaiting(_ slot: Int32) {
        unpark(slot)
        if records[Int(slot)].isAsking { stopAsking(slot) }
        let record = records[Int(slot)]
        if !record.overtook.isEmpty { overtaking -= 1 }
        if record.deadline != nil { waitingWithDeadline -= 1 }
        guard record.position >= 0 else { return }
        if let moved = purposes.removeNestedWaiting(at: record.position, record.purpose) {
            records[Int(moved)].position = record.position
        }
        records[Int(slot)].position = -1
    }

    /// Makes a record a holder that neither waits nor holds yet.
    mutating func grant(_ slot: Int32) -> ClaimAction {
        records[Int(slot)].phase = .held(stamp: nextOrder)
        records[Int(slot)].position = purposes.addHeld(slot, records[Int(slot)].purpose)
        return .grant(records[Int(slot)].id, records[Int(slot)].accesses)
    }

    mutating func fail(_ slot: Int32, _ code: CoordinationError.Code) -> [ClaimAction] {
        let id = records[Int(slot)].id
        return [.fail(id, CoordinationError(code))] + remove(slot)
    }

    /// Removes a holder or waiter, and lets those who were parked on it look again.
    mutating func remove(_ slot: Int32) -> [ClaimAction] {
        if records[Int(slot)].isHeld {
            let position = records[Int(slot)].position
            if let moved = purposes.removeHeld(at: position, records[Int(slot)].purpose) {
                records[Int(moved)].position = position
            }
        } else {
            stopWaiting(slot)
        }
        let parked = takeParked(slot)
        withdraw(slot)
        return reconsider(parked)
    }

    /// Grants those of `waiters` that nothing is in the way of any more, oldest first, and parks the rest anew.
    mutating func reconsider(_ waiters: [Int32]) -> [ClaimAction] {
        guard !waiters.isEmpty else { return [] }
        var actions: [ClaimAction] = []
        for slot in waiters.sorted(by: { records[Int($0)].order < records[Int($1)].order }) {
            if let blocker = blocker(of: slot) {
                unpark(slot)
                park(slot, on: blocker)
            } else if records[Int(slot)].asksFirst {
                unpark(slot)
                if !records[Int(slot)].isAsking { actions.append(startAsking(slot)) }
            } else {
                stopWaiting(slot)
                if !records[Int(slot)].overtook.isEmpty { putAhead(slot) }
                actions.append(grant(slot))
            }
        }
        return actions
    }

    func isWaiting(_ entry: DeadlineHeap.Entry) -> Bool { Self.isWaiting(entry, records) }

    private static func isWaiting(_ entry: DeadlineHeap.Entry, _ records: [ClaimRecord]) -> Bool {
        let record = records[Int(entry.slot)]
        guard case .waiting = record.phase else { return false }
        return record.order == entry.order
    }
}

/// The lists of who is parked on whom.
extension ClaimTable {
    mutating func park(_ slot: Int32, on blocker: Int32) {
        let next = records[Int(blocker)].firstParked
        records[Int(slot)].parkedOn = blocker
        records[Int(slot)].nextParked = next
        records[Int(slot)].previousParked = -1
        if next >= 0 { records[Int(next)].previousParked = slot }
        records[Int(blocker)].firstParked = slot
    }

    mutating func unpark(_ slot: Int32) {
        let record = records[Int(slot)]
        guard record.parkedOn >= 0 else { return }
        if record.previousParked >= 0 {
            records[Int(record.previousParked)].nextParked = record.nextParked
        } else {
            records[Int(record.parkedOn)].firstParked = record.nextParked
        }
        if record.nextParked >= 0 { records[Int(record.nextParked)].previousParked = record.previousParked }
        records[Int(slot)].parkedOn = -1
        records[Int(slot)].nextParked = -1
        records[Int(slot)].previousParked = -1
    }

    /// Empties the list of those parked on `slot`.
    mutating func takeParked(_ slot: Int32) -> [Int32] {
        var parked: [Int32] = []
        while records[Int(slot)].firstParked >= 0 {
            let first = records[Int(slot)].firstParked
            unpark(first)
            parked.append(first)
        }
        return parked
    }
}
