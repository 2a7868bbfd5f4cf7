/// A pattern that is neither `*.ext` nor a whole name: `*.so.[0-9]*`, `readme*`.
///
/// A class, so that trying one copies nothing.
final class OddPattern: Sendable {
    /// That are tried, at most: each costs every name.
    static let most = 256

    /// As `NameTable` ranks patterns.
    let rank: UInt32
    let value: Int
    private let glob: Glob
    private let isCaseSensitive: Bool
    /// The longest run of bytes that a name must have in it.
    private let needle: [UInt8]
    /// The last bytes that a name may have.
    private let lastBytes: [Bool]

    init(_ pattern: NameTable.Pattern, rank: UInt32) {
        self.rank = rank
        value = pattern.value
        glob = Glob(String(decoding: pattern.glob, as: UTF8.self))
        isCaseSensitive = pattern.isCaseSensitive
        needle = Self.needle(pattern.glob)
        let last = Self.last(pattern.glob)
        lastBytes = (0..<256).map { last?.contains(UInt8($0)) ?? true }
    }

    func matches(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let last = name.last, lastBytes[Int(lowered(last))], hasNeedle(name) else { return false }
        return glob.matches(name.map(lowered))
    }

    private func lowered(_ byte: UInt8) -> UInt8 { isCaseSensitive ? byte : byte.asciiLowercased }

    private func hasNeedle(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = needle.first else { return true }
        guard name.count >= needle.count else { return false }
        for start in 0...(name.count - needle.count) where lowered(name[start]) == first {
            var length = 1
            while length < needle.count, lowered(name[start + length]) == needle[length] { length += 1 }
            if length == needle.count { return true }
        }
        return false
    }

    /// Empty where a `\` makes it hard to say.
    private static func needle(_ glob: [UInt8]) -> [UInt8] {
        guard !glob.contains(UInt8(ascii: "\\")) else { return [] }
        var runs: [[UInt8]] = [[]]
        var isInSet = false
        for byte in glob {
            switch byte {
            case UInt8(ascii: "["): isInSet = true
            case UInt8(ascii: "]") where isInSet: isInSet = false
            case UInt8(ascii: "*"), UInt8(ascii: "?"): break
            default:
                if !isInSet { runs[runs.count - 1].append(byte) }
                continue
            }
            runs.append([])
        }
        // An unclosed set stands for itself.
        return isInSet ? [] : runs.max { $0.count < $1.count } ?? []
    }

    /// The last bytes that names may have; nil for any.
    private static func last(_ glob: [UInt8]) -> Set<UInt8>? {
        guard let last = glob.last, !glob.contains(UInt8(ascii: "\\")), !"*?".utf8.contains(last) else { return nil }
        guard last == UInt8(ascii: "]") else { return [last] }
        guard let open = glob.lastIndex(of: UInt8(ascii: "[")), open + 1 < glob.count - 1,
            !"!^".utf8.contains(glob[open + 1])
        else { return nil }
        let one = Glob(String(decoding: glob[open...], as: UTF8.self))
        return Set((UInt8.min...UInt8.max).filter { one.matches([$0]) })
    }
}
