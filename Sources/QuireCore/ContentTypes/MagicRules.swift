/// A rule for content: bytes that stand somewhere.
struct MagicRule: Sendable, Hashable {
    /// How deep it lies below the section: it counts only where the rule above it, one less deep, matched.
    var depth: Int
    /// Of the first place where the bytes may begin.
    var offset: Int
    /// Places from there on, at least 1.
    var places: Int
    var value: [UInt8]
    /// As long as the value; empty for all bits.
    var mask: [UInt8]

    /// - Parameter budget: bytes that may be looked at still.
    func matches(_ content: [UInt8], _ budget: inout Int) -> Bool {
        guard !value.isEmpty, offset <= content.count - value.count else { return false }
        let last = min(offset + places - 1, content.count - value.count)
        for start in offset...last {
            guard budget > 0 else { return false }
            budget -= 1
            if matches(content, at: start, &budget) { return true }
        }
        return false
    }

    private func matches(_ content: [UInt8], at start: Int, _ budget: inout Int) -> Bool {
        for index in value.indices {
            let bits = mask.isEmpty ? 0xFF : mask[index]
            if content[start + index] & bits != value[index] & bits { return false }
            budget -= 1
        }
        return true
    }
}

/// The rules of one MIME type: it is that type where one of those of depth 0 matches, and one below it if there are any.
struct MagicSection: Sendable, Hashable {
    var mime: String
    /// 0 … 100.
    var priority: Int
    /// In order; each is followed by those below it.
    var rules: [MagicRule]

    /// It voids what directories that count less say of this type.
    var isClearing: Bool { rules.first.map { $0.value == Array("__NOMAGIC__".utf8) } ?? false }

    func matches(_ content: [UInt8], _ budget: inout Int) -> Bool {
        // Deeper rules are skipped until one as deep as `open` comes: what lies above matched.
        var open = 0
        for (index, rule) in rules.enumerated() {
            if rule.depth > open { continue }
            open = rule.depth
            guard rule.matches(content, &budget) else { continue }
            let hasChildren = index + 1 < rules.count && rules[index + 1].depth > rule.depth
            if !hasChildren { return true }
            open = rule.depth + 1
        }
        return false
    }
}

/// Reads the file `magic`. (Shared MIME-info specification, "The magic files")
struct MagicReader {
    /// How much of a file's beginning is looked at: an ISO image says so at 32,769.
    static let reach = 36_864
    private static let mostRules = 20_000

    private let bytes: [UInt8]
    private var index = 0

    /// What can be read of it, up to the first fault.
    static func sections(_ bytes: [UInt8]) -> [MagicSection] {
        let header = Array("MIME-Magic\0\n".utf8)
        guard bytes.starts(with: header) else { return [] }
        var reader = MagicReader(bytes: bytes, index: header.count)
        var sections: [MagicSection] = []
        var rules = 0
        while rules < mostRules, let section = reader.section() {
            rules += section.rules.count
            sections.append(section)
        }
        return sections
    }

    private init(bytes: [UInt8], index: Int) {
        self.bytes = bytes
        self.index = index
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// `[priority:type]`, and the rules below it.
    private mutating func section() -> MagicSection? {
        guard take("["), let priority = number(), take(":"),
            let end = bytes[index...].firstIndex(of: UInt8(ascii: "]")),
            let mime = MimeDatabaseReader.mime(bytes[index..<end])
        else { return nil }
        index = end + 1
        guard take("\n") else { return nil }
        var rules: [MagicRule] = []
        while let byte = next, byte != UInt8(ascii: "[") {
            guard let rule = rule() else { return nil }
            rules.append(rule)
        }
        return MagicSection(mime: mime, priority: priority, rules: rules)
    }

    /// `[depth]>offset=` length (2 bytes, the higher first) value [`&` mask] [`~` word size] [`+` places]
    private mutating func rule() -> MagicRule? {
        let depth = next == UInt8(ascii: ">") ? 0 : number()
        guard let depth, take(">"), let offset = number(), take("="), index + 2 <= bytes.count else { return nil }
        let length = Int(bytes[index]) << 8 | Int(bytes[index + 1])
        index += 2
        guard var value = take(length) else { return nil }
        var mask: [UInt8] = []
        if take("&") {
            guard let found = take(length) else { return nil }
            mask = found
        }
        var word = 1
        if take("~") {
            guard let size = number() else { return nil }
            word = size
        }
        var places = 1
        if take("+") {
            guard let count = number() else { return nil }
            places = max(1, count)
        }
        guard take("\n") else { return nil }
        Self.arrange(&value, word)
        Self.arrange(&mask, word)
        return MagicRule(
            depth: depth, offset: min(offset, Self.reach), places: min(places, Self.reach), value: value, mask: mask)
    }

    /// At most nine digits.
    private mutating func number() -> Int? {
        let digits = bytes[index...].prefix(9).prefix { $0 >= 0x30 && $0 <= 0x39 }
        index += digits.count
        return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard index + count <= bytes.count else { return nil }
        defer { index += count }
        return Array(bytes[index..<(index + count)])
    }

    /// Words are written with the highest byte first, and stand in files in this machine's order.
    private static func arrange(_ bytes: inout [UInt8], _ word: Int) {
        guard word > 1, UInt16(1).littleEndian == 1, bytes.count.isMultiple(of: word) else { return }
        for start in stride(from: 0, to: bytes.count, by: word) { bytes[start..<(start + word)].reverse() }
    }
}
