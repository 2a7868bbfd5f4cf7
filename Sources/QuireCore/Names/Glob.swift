/// A shell pattern over bytes: `*` any run, `?` one byte, `[a-z]` and `[!a-z]` one of a set, `\` takes the next literally.
///
/// Matches in time proportional to pattern × name at the most: of the `*` only the last is ever tried again.
public struct Glob: Sendable, Hashable {
    private enum Token: Sendable, Hashable {
        case literal(UInt8)
        case any
        case run
        case set([ClosedRange<UInt8>], negated: Bool)
    }

    /// The pattern as given.
    public let pattern: String
    private let tokens: [Token]

    /// Reads a pattern; every string is one: an unclosed `[` stands for itself.
    public init(_ pattern: String) {
        self.pattern = pattern
        self.tokens = Glob.parse(Array(pattern.utf8))
    }

    /// Whether the whole of `bytes` matches.
    public func matches(_ bytes: [UInt8]) -> Bool {
        var token = 0
        var byte = 0
        var retry: (token: Int, byte: Int)?
        while byte < bytes.count {
            if token < tokens.count, tokens[token] == .run {
                retry = (token + 1, byte)
                token += 1
            } else if token < tokens.count, accepts(tokens[token], bytes[byte]) {
                token += 1
                byte += 1
            } else if let (afterRun, start) = retry {
                token = afterRun
                byte = start + 1
                retry = (afterRun, start + 1)
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy { $0 == .run }
    }

    private func accepts(_ token: Token, _ byte: UInt8) -> Bool {
        switch token {
        case .literal(let literal): literal == byte
        case .any: true
        case .run: false
        case .set(let ranges, let negated): ranges.contains { $0.contains(byte) } != negated
        }
    }

    private static func parse(_ pattern: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        var index = 0
        while index < pattern.count {
            switch pattern[index] {
            case UInt8(ascii: "*"): tokens.append(.run)
            case UInt8(ascii: "?"): tokens.append(.any)
            case UInt8(ascii: "\\") where index + 1 < pattern.count:
                index += 1
                tokens.append(.literal(pattern[index]))
            case UInt8(ascii: "["):
                if let (set, end) = parseSet(pattern, from: index) {
                    tokens.append(set)
                    index = end
                } else {
                    tokens.append(.literal(pattern[index]))
                }
            case let byte: tokens.append(.literal(byte))
            }
            index += 1
        }
        return tokens
    }

    private static func parseSet(_ pattern: [UInt8], from open: Int) -> (Token, end: Int)? {
        var index = open + 1
        let negated =
            index < pattern.count && (pattern[index] == UInt8(ascii: "!") || pattern[index] == UInt8(ascii: "^"))
        if negated { index += 1 }
        guard let close = pattern[min(index + 1, pattern.count)...].firstIndex(of: UInt8(ascii: "]")) else {
            return nil
        }
        var ranges: [ClosedRange<UInt8>] = []
        while index < close {
            let low = pattern[index]
            if index + 2 < close, pattern[index + 1] == UInt8(ascii: "-"), pattern[index + 2] >= low {
                ranges.append(low...pattern[index + 2])
                index += 3
            } else {
                ranges.append(low...low)
                index += 1
            }
        }
        return (.set(ranges, negated: negated), close)
    }
}
