import Glibc
import Synchronization

/// What one thread answered, by kind: how many, and how long they took.
///
/// Written by one thread at a time, read by any: every word is an atomic that is loaded and stored without order, which
/// costs what a plain variable costs. A reader may find the newest request counted in one word and not yet in another.
final class RequestCounters: @unchecked Sendable {
    // The memory's words are atomics; the pointer never changes.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// A kind's words: the total, the longest, then the classes.
    private static let stride = 256
    private static let wordCount = stride * RequestKind.limit

    init() {
        precondition(LatencyScale.classes + 2 <= Self.stride)
        // Zeroed, and no memory is taken for a kind that never comes.
        let size = Self.wordCount * MemoryLayout<Atomic<UInt64>>.stride
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { preconditionFailure("no memory for counters") }
        words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.wordCount)
    }

    deinit { munmap(words, Self.wordCount * MemoryLayout<Atomic<UInt64>>.stride) }

    /// Counts one request. Only one thread at a time may.
    func count(_ kind: RequestKind, nanoseconds: Int) {
        let first = words + Int(min(kind.opcode, UInt32(RequestKind.limit - 1))) * Self.stride
        let time = UInt64(max(0, nanoseconds))
        Self.set(first, first.pointee.load(ordering: .relaxed) &+ time)
        if first[1].load(ordering: .relaxed) < time { Self.set(first + 1, time) }
        let inClass = first + 2 + LatencyScale.index(nanoseconds: nanoseconds)
        Self.set(inClass, inClass.pointee.load(ordering: .relaxed) &+ 1)
    }

    /// Adds what was counted of `kind` until now.
    func add(_ kind: RequestKind, to counts: inout LatencyCounts) {
        let first = words + Int(kind.opcode) * Self.stride
        for index in 0..<LatencyScale.classes {
            let value = first[2 + index].load(ordering: .relaxed)
            if value > 0 { counts.add(value, ofClass: index) }
        }
        counts.add(
            longestNanoseconds: Int(first[1].load(ordering: .relaxed)),
            totalNanoseconds: Int(first.pointee.load(ordering: .relaxed)))
    }

    private static func set(_ word: UnsafeMutablePointer<Atomic<UInt64>>, _ value: UInt64) {
        word.pointee.store(value, ordering: .relaxed)
    }
}
