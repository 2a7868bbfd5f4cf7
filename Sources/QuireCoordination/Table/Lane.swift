/// The three roles a claim can have at a path.
enum LaneKind: Int, CaseIterable {
    case reads, writes
    /// Writes that also cover everything below.
    case trees
}

/// The living claims of one role at one path, oldest first.
///
/// Entries that went leave a gap, closed now and then, so that removal in any order is cheap.
///
///     order     3    4    7    9   12
///     purpose   a    b    b    -    b      - = gap
///     previous  -1 ◀─┴────┘◀───┘         entry 12 (b) jumps over 7 and 4 to 3, the next of another purpose
struct Lane {
    struct Entry {
        let order: UInt64
        /// -1 for a gap.
        var slot: Int32
        let purpose: Int32
        /// Where to look on for an entry of another purpose; for a gap, for any entry.
        var previous: Int32
    }

    private(set) var entries: [Entry] = []
    private(set) var live = 0
    /// Slots of holders that may be in the way of older waiters: granted ahead of them, or moved here.
    var ahead: [Int32] = []

    var isEmpty: Bool { live == 0 }

    /// Adds a claim. A claim that is here already stays once.
    /// - Returns: whether it was added.
    mutating func insert(order: UInt64, slot: Int32, purpose: Int32) -> Bool {
        guard let last = entries.last, last.order >= order else {
            append(Entry(order: order, slot: slot, purpose: purpose, previous: -1))
            live += 1
            return true
        }
        let index = index(of: order)
        if entries[index].order == order {
            guard entries[index].slot < 0 else { return false }
            entries.remove(at: index)
        }
        entries.insert(Entry(order: order, slot: slot, purpose: purpose, previous: -1), at: index)
        live += 1
        closeGaps()
        return true
    }

    /// Takes a claim out.
    /// - Returns: whether it was here.
    mutating func remove(order: UInt64, slot: Int32) -> Bool {
        let index = index(of: order)
        guard index < entries.count, entries[index].order == order, entries[index].slot == slot else { return false }
        if !ahead.isEmpty { ahead.removeAll { $0 == slot } }
        entries[index].slot = -1
        entries[index].previous = Int32(index) - 1
        live -= 1
        if live == 0 {
            entries.removeAll(keepingCapacity: entries.count <= 16)
        } else {
            while entries[entries.count - 1].slot < 0 { entries.removeLast() }
            if entries.count > 2 * live + 32 { closeGaps() }
        }
        return true
    }

    /// The youngest claim older than `order` of another purpose than `purpose`.
    mutating func latest(before order: UInt64, otherThan purpose: Int32) -> Int32? {
        guard live > 0 else { return nil }
        var index = Int32(index(of: order)) - 1
        while index >= 0 {
            let entry = entries[Int(index)]
            if entry.slot < 0 {
                let start = index
                while index >= 0, entries[Int(index)].slot < 0 { index = entries[Int(index)].previous }
                entries[Int(start)].previous = index
            } else if entry.purpose == purpose {
                index = entry.previous
            } else {
                return entry.slot
            }
        }
        return nil
    }

    /// The first index whose entry is not older than `order`.
    private func index(of order: UInt64) -> Int {
        guard let last = entries.last, last.order >= order else { return entries.count }
        var low = 0
        var high = entries.count - 1
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].order < order { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func append(_ entry: Entry) {
        var entry = entry
        if let last = entries.last, last.slot >= 0, last.purpose == entry.purpose {
            entry.previous = last.previous
        } else {
            entry.previous = Int32(entries.count) - 1
        }
        entries.append(entry)
    }

    private mutating func closeGaps() {
        let old = entries
        entries.removeAll(keepingCapacity: true)
        for entry in old where entry.slot >= 0 { append(entry) }
    }
}
