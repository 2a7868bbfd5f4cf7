/// Into which of a fixed number of classes a time falls: eight to each doubling, so that a class is at most an eighth wide.
///
/// Class 0 is everything below 256 ns, the last everything from 17 s on.
enum LatencyScale {
    private static let firstExponent = 8
    private static let lastExponent = 34
    static let classes = (lastExponent - firstExponent) * 8 + 2

    /// The class of a time; a negative one (there is none) would be in the first.
    static func index(nanoseconds: Int) -> Int {
        guard nanoseconds >= 1 << firstExponent else { return 0 }
        let exponent = Int.bitWidth - 1 - nanoseconds.leadingZeroBitCount
        guard exponent < lastExponent else { return classes - 1 }
        return (exponent - firstExponent) * 8 + (nanoseconds >> (exponent - 3)) & 7 + 1
    }

    /// The first time that is longer than all of a class; of the last class, its shortest.
    static func end(ofClass index: Int) -> Int {
        guard index < classes - 1 else { return 1 << lastExponent }
        let (octave, eighth) = index.quotientAndRemainder(dividingBy: 8)
        return (8 + eighth) << (octave + firstExponent - 3)
    }
}

/// How many requests took how long.
struct LatencyCounts: Equatable {
    /// By class of `LatencyScale`.
    private(set) var counts = [UInt64](repeating: 0, count: LatencyScale.classes)
    private(set) var longestNanoseconds = 0
    private(set) var totalNanoseconds = 0

    var count: UInt64 { counts.reduce(0, +) }

    /// Adds `more` requests of a class.
    mutating func add(_ more: UInt64, ofClass index: Int) { counts[index] += more }

    /// Adds what another thread summed up.
    mutating func add(longestNanoseconds longest: Int, totalNanoseconds total: Int) {
        longestNanoseconds = max(longestNanoseconds, longest)
        totalNanoseconds += total
    }

    /// The time within which `share` (0 … 1) of the requests were answered, at most an eighth too long; 0 where there
    /// are none.
    func nanoseconds(share: Double) -> Int {
        let count = count
        guard count > 0 else { return 0 }
        let rank = max(1, UInt64((Double(count) * share).rounded(.up)))
        var seen: UInt64 = 0
        for (index, inClass) in counts.enumerated() {
            seen += inClass
            if seen >= rank { return min(LatencyScale.end(ofClass: index), longestNanoseconds) }
        }
        return longestNanoseconds
    }
}
