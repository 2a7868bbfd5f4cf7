/// Cuts a query expression into tokens.
struct QueryLexer {
    struct Token: Hashable {
        enum Kind: Hashable {
            /// `name`, `12`, `1.5MB`, `$time.now`, `2026-01-31`, `true`.
            case word(String)
            case string(String, modifiers: String)
            /// An operator, a parenthesis or a comma.
            case symbol(String)
            case end
        }

        let kind: Kind
        /// In characters; the first is 1.
        let position: Int

        /// As shown in an error; nil at the end.
        var text: String? {
            switch kind {
            case .word(let text), .symbol(let text): text
            case .string(let text, let modifiers): "\"\(text)\"\(modifiers)"
            case .end: nil
            }
        }
    }

    private let characters: [Character]
    private var index = 0

    init(_ text: String) { characters = Array(text) }

    /// - Throws: where a quote is not closed, or a character belongs to nothing.
    mutating func next() throws(QueryError) -> Token {
        while let character = current, character.isWhitespace { index += 1 }
        let position = index + 1
        guard let character = current else { return Token(kind: .end, position: position) }
        if character == "\"" || character == "'" { return try string(character, position) }
        let word = characters[index...].prefix { Self.isWordCharacter($0) }
        guard word.isEmpty else {
            index += word.count
            return Token(kind: .word(String(word)), position: position)
        }
        for symbol in Self.symbols where characters[index...].starts(with: symbol) {
            index += symbol.count
            return Token(kind: .symbol(symbol == ["="] ? "==" : String(symbol)), position: position)
        }
        throw QueryError(position: position, expected: "an attribute, a value or an operator", found: "\(character)")
    }

    private var current: Character? { index < characters.count ? characters[index] : nil }

    /// Backslashes stay where `TextPattern` takes them; before a quote they go.
    private mutating func string(_ quote: Character, _ position: Int) throws(QueryError) -> Token {
        index += 1
        var text = ""
        while let character = current, character != quote {
            index += 1
            guard character == "\\", let escaped = current else {
                text.append(character)
                continue
            }
            index += 1
            if escaped != quote { text.append(character) }
            text.append(escaped)
        }
        guard current == quote else { throw QueryError(position: index + 1, expected: "\(quote)", found: nil) }
        index += 1
        let modifiers = characters[index...].prefix { $0.isLetter }
        index += modifiers.count
        return Token(kind: .string(text, modifiers: String(modifiers)), position: position)
    }

    /// The longer ones first. No character of a word is in them.
    private static let symbols = ["&&", "||", "==", "!=", "<=", ">=", "=", "<", ">", "!", "(", ")", ","].map {
        Array($0)
    }
    private static let wordPunctuation = Array("$._-+:*?/".utf8)

    private static func isWordCharacter(_ character: Character) -> Bool {
        // Most of them; the others take a look into Unicode's tables.
        guard let byte = character.asciiValue else { return character.isLetter || character.isNumber }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return wordPunctuation.contains(byte)
        }
    }
}
