import QuireCore

/// What a pattern says of every text that matches it, for finding those without looking at all.
struct PatternShape {
    /// The only text that matches, where there are no wildcards; upper and lower case and marks aside.
    private(set) var literal: [UInt8]?
    /// How every match begins.
    private(set) var prefix: [UInt8] = []
    /// Runs of at least three ASCII characters, in lower case, that every match has in it, upper and lower case aside.
    private(set) var runs: [[UInt8]] = []

    /// - Parameter hasSets: `[` begins a set of characters.
    init(_ pattern: String, hasSets: Bool) {
        var literals: [[UInt8]] = [[]]
        let bytes = Array(pattern.utf8)
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "*"), UInt8(ascii: "?"): literals.append([])
            case UInt8(ascii: "["):
                // Whether it is closed, and where, `Glob` decides: nothing is said of what follows.
                if hasSets {
                    literals.append([])
                    index = bytes.count
                } else {
                    literals[literals.count - 1].append(bytes[index])
                }
            case UInt8(ascii: "\\") where index + 1 < bytes.count:
                index += 1
                literals[literals.count - 1].append(bytes[index])
            case let byte: literals[literals.count - 1].append(byte)
            }
            index += 1
        }
        literal = literals.count == 1 ? literals[0] : nil
        prefix = literals[0]
        runs = literals.flatMap(Self.asciiRuns)
    }

    private static func asciiRuns(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.split { $0 >= 0x80 }.filter { $0.count >= 3 }.map { $0.map { $0.asciiLowercased } }
    }

    /// The least text that is greater than all that begin with the prefix; nil where there is none.
    var prefixEnd: [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return nil
    }
}
