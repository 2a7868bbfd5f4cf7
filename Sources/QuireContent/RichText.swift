/// What is to be read in RTF (Microsoft, Rich Text Format 1.9.1): without control words, tables of fonts and colours, pictures.
///
/// In one pass and without recursion; bytes above ASCII are taken as ISO 8859-1.
struct RichText {
    private let bytes: [UInt8]
    private var index = 0
    private var output = ""
    /// Of each open group: whether it is passed over, and how many characters stand in for one of `\u`.
    private var groups: [Group] = [Group()]
    private var toSkip = 0

    private struct Group {
        var isHidden = false
        var substitutes = 1
    }

    /// Destinations that nobody reads.
    private static let hidden: Set<String> = [
        "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "filetbl", "listtable", "listoverridetable",
        "rsidtbl", "generator", "themedata", "datastore", "xmlnstbl",
    ]
    private static let spaces: Set<String> = ["par", "line", "tab", "cell", "row", "sect", "page", "column"]
    /// Deeper groups are read as if they were this deep.
    private static let deepest = 1000

    /// - Parameter limit: of bytes of the result; what follows is left out.
    static func text(_ bytes: [UInt8], limit: Int) -> String {
        var reader = RichText(bytes: bytes)
        while reader.index < bytes.count, reader.output.utf8.count < limit { reader.step() }
        return reader.output
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func step() {
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "{"): if groups.count < Self.deepest { groups.append(groups[groups.count - 1]) }
        case UInt8(ascii: "}"): if groups.count > 1 { groups.removeLast() }
        case UInt8(ascii: "\\"): control()
        case 0x0A, 0x0D: break
        default: show(Unicode.Scalar(byte))
        }
    }

    private mutating func show(_ scalar: Unicode.Scalar) {
        guard toSkip == 0 else {
            toSkip -= 1
            return
        }
        if !groups[groups.count - 1].isHidden { output.unicodeScalars.append(scalar) }
    }

    private mutating func control() {
        guard index < bytes.count else { return }
        let byte = bytes[index]
        guard (0x61...0x7A).contains(byte | 0x20) else {
            index += 1
            return symbol(byte)
        }
        let name = take { (0x61...0x7A).contains($0 | 0x20) }
        let number = Int(take { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") })
        if index < bytes.count, bytes[index] == 0x20 { index += 1 }
        word(name, number)
    }

    private mutating func symbol(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "'"):
            let digits = String(decoding: bytes[index...].prefix(2), as: UTF8.self)
            index = min(index + 2, bytes.count)
            if let value = UInt8(digits, radix: 16) { show(Unicode.Scalar(value)) }
        case UInt8(ascii: "*"): groups[groups.count - 1].isHidden = true
        case UInt8(ascii: "~"), 0x0A, 0x0D: show(" ")
        case UInt8(ascii: "\\"), UInt8(ascii: "{"), UInt8(ascii: "}"): show(Unicode.Scalar(byte))
        default: break
        }
    }

    private mutating func word(_ name: String, _ number: Int?) {
        if Self.spaces.contains(name) { return show(" ") }
        if Self.hidden.contains(name) { groups[groups.count - 1].isHidden = true }
        if name == "uc", let number { groups[groups.count - 1].substitutes = min(max(number, 0), 100) }
        if name == "bin", let number { index += min(max(number, 0), bytes.count - index) }
        guard name == "u", let number else { return }
        // Signed, in 16 bits.
        show(Unicode.Scalar(UInt16(truncatingIfNeeded: number)) ?? "\u{FFFD}")
        toSkip = groups[groups.count - 1].substitutes
    }

    private mutating func take(_ belongs: (UInt8) -> Bool) -> String {
        let found = bytes[index...].prefix(while: belongs)
        index = found.endIndex
        return String(decoding: found.prefix(32), as: UTF8.self)
    }
}
