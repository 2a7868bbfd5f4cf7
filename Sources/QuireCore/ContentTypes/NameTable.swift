/// Which of many patterns a name matches best: one pass over the name's bytes, from its end.
///
/// Nearly all patterns are `*.ext` or whole names; these lie in a hash table, and a name is looked up at each of its dots and
/// once as a whole. The few others are tried one by one, each after a look at what the name must have in it.
///
/// The best is the one of the greatest weight, of several the longest, of several the one that tells upper from lower case.
/// (Shared MIME-info specification, "Recommended checking order"; that a pattern which tells case comes last in this order
/// and not first is our choice: it is found in one pass.)
struct NameTable: Sendable {
    /// A pattern, and what a name that matches it is.
    struct Pattern: Sendable, Hashable {
        /// A shell pattern. In lower case where `isCaseSensitive` is false.
        var glob: [UInt8]
        var isCaseSensitive = false
        /// 0 … 100.
        var weight: Int
        var value: Int
    }

    private struct Entry {
        /// What the name ends with, or the whole of it.
        var bytes: [UInt8]
        var isCaseSensitive: Bool
        var rank: UInt32
        var value: Int
    }

    /// Names longer than Linux has them match nothing but the end of theirs.
    private static let longestName = 255

    /// 0 where nothing is.
    private var hashes: [UInt64]
    /// Beside `hashes`: the number of an entry.
    private var places: [Int32]
    private var entries: [Entry] = []
    private let mask: Int
    private var others: [OddPattern] = []
    /// Patterns such as `*~`: the last bytes that no dot begins.
    private var dotlessEnds: [Bool] = Array(repeating: false, count: 256)

    /// Of equal patterns the first counts.
    init(_ patterns: [Pattern]) {
        var capacity = 16
        while capacity < patterns.count * 4 { capacity *= 2 }
        mask = capacity - 1
        hashes = Array(repeating: 0, count: capacity)
        places = Array(repeating: 0, count: capacity)
        for pattern in patterns { add(pattern) }
    }

    private mutating func add(_ pattern: Pattern) {
        guard !pattern.glob.isEmpty, pattern.glob.count <= Self.longestName else { return }
        let rank =
            UInt32(min(max(pattern.weight, 0), 100)) << 16 | UInt32(pattern.glob.count) << 1
            | (pattern.isCaseSensitive ? 1 : 0)
        let isWild = pattern.glob[0] == UInt8(ascii: "*")
        let literal = Array(pattern.glob.dropFirst(isWild ? 1 : 0))
        guard !literal.isEmpty, !literal.contains(where: { "*?[\\".utf8.contains($0) }),
            !isWild || literal[0] == UInt8(ascii: ".") || literal.count == 1
        else {
            if others.count < OddPattern.most { others.append(OddPattern(pattern, rank: rank)) }
            return
        }
        if isWild, literal[0] != UInt8(ascii: ".") { dotlessEnds[Int(literal[0].asciiLowercased)] = true }
        insert(
            Self.hash(literal, isWhole: !isWild, isCaseSensitive: pattern.isCaseSensitive),
            Entry(bytes: literal, isCaseSensitive: pattern.isCaseSensitive, rank: rank, value: pattern.value))
    }

    private mutating func insert(_ hash: UInt64, _ entry: Entry) {
        var index = Int(truncatingIfNeeded: hash) & mask
        while hashes[index] != 0 {
            if hashes[index] == hash, entries[Int(places[index])].bytes == entry.bytes { return }
            index = (index + 1) & mask
        }
        hashes[index] = hash
        places[index] = Int32(entries.count)
        entries.append(entry)
    }

    // MARK: Looking up

    /// What the name is by the best of the patterns that match it; nil where none does.
    func value(of name: [UInt8]) -> Int? {
        name.withUnsafeBufferPointer { name in
            var best = Best()
            var exact = FNV1a.empty
            var lower = FNV1a.empty
            let start = max(0, name.count - Self.longestName)
            var index = name.count
            while index > start {
                index -= 1
                let byte = name[index]
                exact = FNV1a.step(exact, byte)
                lower = FNV1a.step(lower, byte.asciiLowercased)
                let isDotless = index == name.count - 1 && dotlessEnds[Int(byte.asciiLowercased)]
                guard byte == UInt8(ascii: ".") || isDotless else { continue }
                look(Self.end(exact, false, true), name, from: index, &best)
                look(Self.end(lower, false, false), name, from: index, &best)
            }
            if start == 0 {
                look(Self.end(exact, true, true), name, from: 0, &best)
                look(Self.end(lower, true, false), name, from: 0, &best)
                for index in others.indices where others[index].rank > best.rank {
                    if others[index].matches(name) { best = Best(rank: others[index].rank, value: others[index].value) }
                }
            }
            return best.rank == 0 ? nil : best.value
        }
    }

    /// Ranks of patterns are greater than 0: none is empty.
    private struct Best {
        var rank: UInt32 = 0
        var value = 0
    }

    private func look(_ hash: UInt64, _ name: UnsafeBufferPointer<UInt8>, from start: Int, _ best: inout Best) {
        var index = Int(truncatingIfNeeded: hash) & mask
        while hashes[index] != 0 {
            if hashes[index] == hash {
                let place = Int(places[index])
                if entries[place].rank > best.rank, matches(place, name, from: start) {
                    best = Best(rank: entries[place].rank, value: entries[place].value)
                }
            }
            index = (index + 1) & mask
        }
    }

    /// Equal hashes are not yet equal bytes: anybody may give a file its name.
    private func matches(_ place: Int, _ name: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        let count = entries[place].bytes.count
        guard name.count - start == count else { return false }
        let isCaseSensitive = entries[place].isCaseSensitive
        for offset in 0..<count {
            let byte = name[start + offset]
            guard entries[place].bytes[offset] == (isCaseSensitive ? byte : byte.asciiLowercased) else { return false }
        }
        return true
    }

    // MARK: Hashes (FNV-1a, from the last byte to the first)

    private static func end(_ hash: UInt64, _ isWhole: Bool, _ isCaseSensitive: Bool) -> UInt64 {
        let mixed = FNV1a.step(hash, (isWhole ? 1 : 0) | (isCaseSensitive ? 2 : 0))
        // The low bits choose the place; 0 means that nothing is there.
        return (mixed ^ (mixed >> 32)) | 1 << 63
    }

    private static func hash(_ bytes: [UInt8], isWhole: Bool, isCaseSensitive: Bool) -> UInt64 {
        end(bytes.reversed().reduce(FNV1a.empty, FNV1a.step), isWhole, isCaseSensitive)
    }
}
