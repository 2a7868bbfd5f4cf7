/// How much of something is under way, and who waits until nothing is. A value under its owner's lock: what `end` and `wait` hand
/// back is resumed outside.
struct UnderWay: Sendable {
    typealias Waiter = CheckedContinuation<Void, Never>

    private(set) var count = 0
    private var waiting: [Waiter] = []

    mutating func begin() { count += 1 }

    /// - Returns: who has waited for this.
    mutating func end() -> [Waiter] {
        count -= 1
        guard count == 0 else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// - Returns: the waiter, where nothing is under way.
    mutating func wait(_ waiter: Waiter) -> Waiter? {
        guard count > 0 else { return waiter }
        waiting.append(waiter)
        return nil
    }
}
