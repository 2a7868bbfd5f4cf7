/// The purposes of living claims, numbered so that comparing two is comparing two integers.
struct PurposeBook {
    struct Record {
        var purpose: Purpose
        /// How many claims have it.
        var live = 0
        /// Slots of the claims that are held.
        var held: [Int32] = []
        /// Slots of the nested requests that wait.
        var nestedWaiting: [Int32] = []
        /// Whether it is in `idle`.
        var isIdle = false
    }

    private(set) var records: [Record] = []
    private var free: [Int32] = []
    /// By their identifiers.
    private var index = SlotIndex()
    /// Numbers that no claim had when they were put here, oldest first: kept, as most purposes come again.
    private var idle: [Int32] = []
    private static let idleLimit = 32

    /// How many claims are not the mount's.
    private(set) var explicitCount = 0
    /// How many nested requests wait, of all purposes.
    private(set) var nestedWaitingCount = 0

    subscript(number: Int32) -> Record { records[Int(number)] }

    /// Counts one more claim of `purpose`, and says its number.
    mutating func enter(_ purpose: Purpose) -> Int32 {
        if purpose != .mount { explicitCount += 1 }
        let hash = Self.hash(purpose)
        if let number = index.find(hash, where: { records[Int($0)].purpose == purpose }) {
            records[Int(number)].live += 1
            return number
        }
        let number: Int32
        if let reused = free.popLast() {
            number = reused
            records[Int(number)].purpose = purpose
        } else {
            number = Int32(records.count)
            records.append(Record(purpose: purpose))
        }
        records[Int(number)].live = 1
        index.insert(hash, number)
        return number
    }

    private static func hash(_ purpose: Purpose) -> UInt32 { UInt32(truncatingIfNeeded: purpose.hashValue) }

    /// Counts one claim less.
    mutating func leave(_ number: Int32) {
        if records[Int(number)].purpose != .mount { explicitCount -= 1 }
        records[Int(number)].live -= 1
        guard records[Int(number)].live == 0, !records[Int(number)].isIdle else { return }
        records[Int(number)].isIdle = true
        idle.append(number)
        if idle.count > Self.idleLimit { forget(idle.removeFirst()) }
    }

    private mutating func forget(_ number: Int32) {
        records[Int(number)].isIdle = false
        guard records[Int(number)].live == 0 else { return }
        index.remove(Self.hash(records[Int(number)].purpose), number)
        free.append(number)
    }

    /// - Returns: where `slot` was put, for `removeHeld`.
    mutating func addHeld(_ slot: Int32, _ number: Int32) -> Int32 {
        records[Int(number)].held.append(slot)
        return Int32(records[Int(number)].held.count) - 1
    }

    /// - Returns: the slot that took the place, whose position changes to `position`.
    mutating func removeHeld(at position: Int32, _ number: Int32) -> Int32? {
        Self.remove(at: position, from: &records[Int(number)].held)
    }

    /// - Returns: where `slot` was put, for `removeNestedWaiting`.
    mutating func addNestedWaiting(_ slot: Int32, _ number: Int32) -> Int32 {
        nestedWaitingCount += 1
        records[Int(number)].nestedWaiting.append(slot)
        return Int32(records[Int(number)].nestedWaiting.count) - 1
    }

    /// - Returns: the slot that took the place, whose position changes to `position`.
    mutating func removeNestedWaiting(at position: Int32, _ number: Int32) -> Int32? {
        nestedWaitingCount -= 1
        return Self.remove(at: position, from: &records[Int(number)].nestedWaiting)
    }

    private static func remove(at position: Int32, from list: inout [Int32]) -> Int32? {
        let last = list.removeLast()
        guard Int(position) < list.count else { return nil }
        list[Int(position)] = last
        return last
    }
}
