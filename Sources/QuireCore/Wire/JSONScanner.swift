/// Reads JSON (RFC 8259) from its first byte to its last, without making a tree of it.
///
/// It is strict, and refuses what it is not sure of: what it accepts, a general decoder accepts with the same values; what it
/// refuses, such a decoder decides about. Nesting and the digits of numbers are bounded.
package struct JSONScanner {
    /// What is next is not what was asked for, or not certain to be.
    package struct Refusal: Error {
        package init() {}
    }

    private let bytes: [UInt8]
    /// The next byte.
    private var position = 0

    /// Reads `bytes`, one value.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Structure

    /// Reads an object that names no member twice.
    ///
    /// - Parameter member: gets each member's name, and must read its value.
    package mutating func object(
        _ member: (_ name: String, _ scanner: inout JSONScanner) throws(Refusal) -> Void
    ) throws(Refusal) {
        try expect(0x7B)
        if take(0x7D) { return }
        var names: [String] = []
        repeat {
            let name = try string()
            guard names.count < Self.mostMembers, !names.contains(name) else { throw Refusal() }
            names.append(name)
            try expect(0x3A)
            try member(name, &self)
        } while take(0x2C)
        try expect(0x7D)
    }

    /// Reads an array.
    ///
    /// - Parameter element: must read one value.
    package mutating func array<Element>(
        _ element: (_ scanner: inout JSONScanner) throws(Refusal) -> Element
    ) throws(Refusal) -> [Element] {
        try expect(0x5B)
        if take(0x5D) { return [] }
        var elements: [Element] = []
        repeat { elements.append(try element(&self)) } while take(0x2C)
        try expect(0x5D)
        return elements
    }

    /// Makes sure that nothing follows.
    package mutating func end() throws(Refusal) {
        skipSpace()
        guard position == bytes.count else { throw Refusal() }
    }

    /// Whether a string is next.
    package mutating func isAtString() -> Bool {
        skipSpace()
        return position < bytes.count && bytes[position] == 0x22
    }

    /// Reads any value.
    package mutating func skip() throws(Refusal) { try skip(depth: 0) }

    private static let deepest = 64
    private static let mostMembers = 64

    private mutating func skip(depth: Int) throws(Refusal) {
        guard depth < Self.deepest else { throw Refusal() }
        skipSpace()
        guard position < bytes.count else { throw Refusal() }
        switch bytes[position] {
        case 0x7B: try object { _, scanner throws(Refusal) in try scanner.skip(depth: depth + 1) }
        case 0x5B: _ = try array { scanner throws(Refusal) in try scanner.skip(depth: depth + 1) }
        case 0x22: _ = try string()
        case 0x74: try literal("true")
        case 0x66: try literal("false")
        case 0x6E: try literal("null")
        default: try skipNumber()
        }
    }

    // MARK: Values

    /// Reads `null`, where that is next.
    package mutating func null() throws(Refusal) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == 0x6E else { return false }
        try literal("null")
        return true
    }

    /// Reads `true` or `false`.
    package mutating func boolean() throws(Refusal) -> Bool {
        skipSpace()
        let isTrue = position < bytes.count && bytes[position] == 0x74
        try literal(isTrue ? "true" : "false")
        return isTrue
    }

    /// Reads a number without fraction and exponent that the type holds.
    package mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(Refusal) -> Value {
        skipSpace()
        let start = position
        try skipNumber()
        let digits = bytes[start..<position]
        // A decoder may take "-0" for a number with a fraction.
        guard digits.allSatisfy({ $0 == 0x2D || Self.isDigit($0) }), !digits.elementsEqual([0x2D, 0x30]),
            let value = Value(String(decoding: digits, as: UTF8.self))
        else { throw Refusal() }
        return value
    }

    /// Reads a number.
    package mutating func number() throws(Refusal) -> Double {
        skipSpace()
        let start = position
        try skipNumber()
        guard let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)), value.isFinite else {
            throw Refusal()
        }
        return value
    }

    /// Reads a string.
    package mutating func string() throws(Refusal) -> String {
        skipSpace()
        guard take(0x22) else { throw Refusal() }
        let start = position
        var union: UInt8 = 0
        while position < bytes.count, bytes[position] >= 0x20, bytes[position] != 0x22, bytes[position] != 0x5C {
            union |= bytes[position]
            position += 1
        }
        guard position < bytes.count else { throw Refusal() }
        if bytes[position] == 0x22 {
            defer { position += 1 }
            // Of ASCII nothing is to be checked.
            return union < 0x80
                ? String(decoding: bytes[start..<position], as: UTF8.self) : try Self.text(bytes[start..<position])
        }
        var unescaped = Array(bytes[start..<position])
        while !take(unspaced: 0x22) {
            guard position < bytes.count, bytes[position] >= 0x20 else { throw Refusal() }
            if take(unspaced: 0x5C) {
                try escape(into: &unescaped)
            } else {
                unescaped.append(bytes[position])
                position += 1
            }
        }
        return try Self.text(unescaped[...])
    }

    /// The bytes of the string that is next, where all are printable ASCII as they stand. Nil elsewhere: then nothing is read.
    package mutating func plainString() -> ArraySlice<UInt8>? {
        skipSpace()
        guard position < bytes.count, bytes[position] == 0x22 else { return nil }
        var end = position + 1
        while end < bytes.count, (0x20..<0x7F).contains(bytes[end]), bytes[end] != 0x22, bytes[end] != 0x5C { end += 1 }
        guard end < bytes.count, bytes[end] == 0x22 else { return nil }
        defer { position = end + 1 }
        return bytes[position + 1..<end]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Refusal() }
        return text
    }

    /// What follows a backslash.
    private mutating func escape(into unescaped: inout [UInt8]) throws(Refusal) {
        guard position < bytes.count else { throw Refusal() }
        let kind = bytes[position]
        position += 1
        switch kind {
        case 0x22, 0x5C, 0x2F: unescaped.append(kind)
        case 0x62: unescaped.append(0x08)
        case 0x66: unescaped.append(0x0C)
        case 0x6E: unescaped.append(0x0A)
        case 0x72: unescaped.append(0x0D)
        case 0x74: unescaped.append(0x09)
        case 0x75:
            var units = [try unit()]
            if UTF16.isLeadSurrogate(units[0]) {
                guard take(unspaced: 0x5C), take(unspaced: 0x75) else { throw Refusal() }
                units.append(try unit())
            }
            guard let text = String(validating: units, as: UTF16.self) else { throw Refusal() }
            unescaped += Array(text.utf8)
        default: throw Refusal()
        }
    }

    /// The four digits of `\u`.
    private mutating func unit() throws(Refusal) -> UInt16 {
        guard position + 4 <= bytes.count else { throw Refusal() }
        defer { position += 4 }
        let digits = bytes[position..<position + 4]
        // UInt16 alone would also read a sign.
        guard digits.allSatisfy({ Self.isDigit($0) || (0x41...0x46).contains($0 & 0xDF) }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Refusal() }
        return unit
    }

    // MARK: Bytes

    private mutating func skipNumber() throws(Refusal) {
        let start = position
        _ = take(unspaced: 0x2D)
        let integer = position
        try skipDigits()
        guard bytes[integer] != 0x30 || position == integer + 1 else { throw Refusal() }
        if take(unspaced: 0x2E) { try skipDigits() }
        if take(unspaced: 0x65) || take(unspaced: 0x45) {
            _ = take(unspaced: 0x2B) || take(unspaced: 0x2D)
            try skipDigits()
        }
        guard position - start <= 40 else { throw Refusal() }
    }

    private mutating func skipDigits() throws(Refusal) {
        guard position < bytes.count, Self.isDigit(bytes[position]) else { throw Refusal() }
        while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private mutating func literal(_ word: StaticString) throws(Refusal) {
        let end = position + word.utf8CodeUnitCount
        let isThere = end <= bytes.count && word.withUTF8Buffer { bytes[position..<end].elementsEqual($0) }
        guard isThere else { throw Refusal() }
        position = end
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private mutating func take(unspaced byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        return take(unspaced: byte)
    }

    private mutating func expect(_ byte: UInt8) throws(Refusal) {
        guard take(byte) else { throw Refusal() }
    }
}
