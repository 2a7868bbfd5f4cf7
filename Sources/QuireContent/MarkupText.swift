/// What is to be read in HTML and XML: without tags, comments, scripts and styles, with references resolved.
///
/// No parser: what is not well-formed has its text taken all the same, in one pass and without recursion.
struct MarkupText {
    /// Which tags part words.
    enum Dialect: Sendable, Hashable {
        /// All but those that stand inside a line.
        case html
        /// All.
        case xml
        /// Those of paragraphs, lines, tabs and cells: a word may be put together of several runs.
        case office

        /// - Parameter name: of the element, in lower case, without prefix.
        func parts(_ name: String) -> Bool {
            switch self {
            case .html: !Self.inline.contains(name)
            case .xml: true
            case .office: Self.lines.contains(name)
            }
        }

        private static let inline: Set<String> = [
            "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
            "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var",
            "wbr",
        ]
        /// Of OpenDocument (OASIS, chapter 5: text content) and Office Open XML (ECMA-376 part 1, chapters 17, 18 and 21).
        private static let lines: Set<String> = [
            "p", "h", "s", "tab", "line-break", "br", "cr", "si", "table-cell", "table-row", "tc", "tr", "list-item",
            "annotation", "footnote", "note",
        ]
    }

    private let bytes: [UInt8]
    private let dialect: Dialect
    private let limit: Int
    private var index = 0
    private var output: [UInt8] = []

    /// - Parameter limit: of bytes of the result; what follows is left out.
    static func text(_ markup: String, _ dialect: Dialect, limit: Int) -> String {
        var reader = MarkupText(bytes: Array(markup.utf8), dialect: dialect, limit: limit)
        reader.read()
        return String(decoding: reader.output, as: UTF8.self)
    }

    private init(bytes: [UInt8], dialect: Dialect, limit: Int) {
        self.bytes = bytes
        self.dialect = dialect
        self.limit = limit
    }

    private mutating func read() {
        while index < bytes.count, output.count < limit {
            switch bytes[index] {
            case UInt8(ascii: "<"): readTag()
            case UInt8(ascii: "&"): readReference()
            case let byte:
                output.append(byte)
                index += 1
            }
        }
    }

    // MARK: Tags

    private mutating func readTag() {
        if starts(with: "<!--") { return skip(past: "-->") }
        if starts(with: "<![CDATA[") { return readCharacterData() }
        let nameStart = index + (starts(with: "</") ? 2 : 1)
        guard nameStart < bytes.count, Self.beginsName(bytes[nameStart]) else {
            // A lone character, as in `a < b`.
            output.append(bytes[index])
            index += 1
            return
        }
        var end = nameStart
        while end < bytes.count, !Self.endsName(bytes[end]) { end += 1 }
        let name = Self.localName(bytes[nameStart..<end])
        let isStart = nameStart == index + 1
        index = end
        skipAttributes()
        if isStart, dialect == .html, name == "script" || name == "style" { skip(to: "</\(name)") }
        if dialect.parts(name) { output.append(UInt8(ascii: " ")) }
    }

    private mutating func readCharacterData() {
        index += 9
        let start = index
        skip(past: "]]>")
        let end = index < bytes.count || bytes.hasSuffix("]]>") ? max(start, index - 3) : index
        output += bytes[start..<end].prefix(limit - output.count)
    }

    /// To behind the tag's end; a `>` in quotes is none.
    private mutating func skipAttributes() {
        var quote: UInt8?
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
    }

    private static func beginsName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (0x61...0x7A).contains(byte | 0x20) || "!?_".utf8.contains(byte)
    }

    private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || ">/\"'<".utf8.contains(byte) }

    private static func localName(_ name: ArraySlice<UInt8>) -> String {
        String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self).lowercased()
    }

    // MARK: References

    private mutating func readReference() {
        let body = bytes[(index + 1)...].prefix(12)
        guard let length = body.firstIndex(of: UInt8(ascii: ";")).map({ $0 - index - 1 }),
            let scalar = MarkupReference.scalar(body.prefix(length))
        else {
            output.append(bytes[index])
            index += 1
            return
        }
        output += Array(String(Character(scalar)).utf8)
        index += length + 2
    }

    // MARK: Places

    private func starts(with text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    private mutating func skip(past text: String) {
        skip(to: text)
        index = min(index + text.utf8.count, bytes.count)
    }

    private mutating func skip(to text: String) {
        let wanted = Array(text.utf8)
        while index < bytes.count, !matches(wanted) { index += 1 }
    }

    private func matches(_ wanted: [UInt8]) -> Bool {
        guard bytes.count - index >= wanted.count else { return false }
        return wanted.indices.allSatisfy { bytes[index + $0] == wanted[$0] || bytes[index + $0] | 0x20 == wanted[$0] }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
