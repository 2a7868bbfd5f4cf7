/// Deadlines of waiters, earliest first. Those of waiters that went stay until they are reached or swept.
struct DeadlineHeap {
    struct Entry {
        let deadline: Duration
        let order: UInt64
        let slot: Int32
    }

    private(set) var entries: [Entry] = []

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard Self.precedes(entries[index], entries[parent]) else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// Takes the earliest out, where it is not after `now`.
    mutating func popFirst(notAfter now: Duration) -> Entry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        siftDown(0)
        return first
    }

    /// Drops the entries that `isLive` denies.
    mutating func sweep(keeping isLive: (Entry) -> Bool) {
        entries = entries.filter(isLive)
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
                if Self.precedes(entries[child], entries[least]) { least = child }
            }
            if least == index { return }
            entries.swapAt(index, least)
            index = least
        }
    }

    private static func precedes(_ left: Entry, _ right: Entry) -> Bool {
        left.deadline == right.deadline ? left.order < right.order : left.deadline < right.deadline
    }
}
