/// Writes JSON as a general encoder does that sorts members and escapes no slashes.
///
/// Whoever uses it names members in alphabetical order.
package struct JSONWriter {
    /// What has been written.
    package private(set) var bytes: [UInt8] = []
    /// Whether a comma is due before the next member or element.
    private var needsComma = false

    package init() { bytes.reserveCapacity(256) }

    /// Ends a message.
    package mutating func newline() { bytes.append(0x0A) }

    /// Writes an object.
    package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
        try enclosed(0x7B, 0x7D, members)
    }

    /// Writes an array.
    package mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
        try enclosed(0x5B, 0x5D, elements)
    }

    /// Begins a member of an object; its value follows.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(0x22)
        name.withUTF8Buffer { bytes += $0 }
        bytes.append(0x22)
        bytes.append(0x3A)
        needsComma = false
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        separate()
        bytes.append(0x22)
        var text = text
        text.withUTF8 { for byte in $0 { write(character: byte) } }
        bytes.append(0x22)
    }

    /// Writes a number.
    package mutating func integer(_ value: some FixedWidthInteger) {
        separate()
        bytes += Array(String(value).utf8)
    }

    /// Writes a finite number.
    package mutating func number(_ value: Double) {
        separate()
        let isWhole = value == value.rounded() && abs(value) < 1e15
        bytes += Array((isWhole ? String(Int64(value)) : String(value)).utf8)
    }

    /// Writes `true` or `false`.
    package mutating func boolean(_ value: Bool) {
        separate()
        bytes += Array((value ? "true" : "false").utf8)
    }

    private mutating func enclosed(
        _ first: UInt8, _ last: UInt8, _ body: (inout JSONWriter) throws -> Void
    ) rethrows {
        separate()
        bytes.append(first)
        needsComma = false
        try body(&self)
        bytes.append(last)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(0x2C) }
        needsComma = true
    }

    private mutating func write(character byte: UInt8) {
        switch byte {
        case 0x22, 0x5C: bytes += [0x5C, byte]
        case 0x08: bytes += [0x5C, 0x62]
        case 0x0C: bytes += [0x5C, 0x66]
        case 0x0A: bytes += [0x5C, 0x6E]
        case 0x0D: bytes += [0x5C, 0x72]
        case 0x09: bytes += [0x5C, 0x74]
        case 0..<0x20:
            let digits = String(byte, radix: 16)
            bytes += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
        default: bytes.append(byte)
        }
    }
}
