/// What text is for the index of words, whose tokenizer (`unicode61`) takes runs of letters and digits as words.
enum WordText {
    /// The text with spaces around each character of scripts that are written without.
    static func prepared(_ text: String) -> String {
        // Their UTF-8 begins with these bytes, that of others too.
        guard text.utf8.contains(where: { $0 >= 0xE2 }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isWordByItself(scalar) {
                result.append(" ")
                result.append(scalar)
                result.append(" ")
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Ideographs and kana.
    static func isWordByItself(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2E80...0x2FDF, 0x3005...0x3007, 0x3041...0x30FF, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xF900...0xFAFF, 0xFF66...0xFF9F, 0x20000...0x3FFFF:
            true
        default: false
        }
    }

    /// Letters, digits, and what goes with them.
    static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse, .nonspacingMark:
            true
        default: false
        }
    }

    /// How many words there are; counted no further than `limit`.
    static func wordCount(_ text: String, upTo limit: Int) -> Int {
        var count = 0
        var isInside = false
        for scalar in text.unicodeScalars where count < limit {
            let isOfWord = isOfWord(scalar)
            if isOfWord, !isInside || isWordByItself(scalar) { count += 1 }
            isInside = isOfWord && !isWordByItself(scalar)
        }
        return count
    }
}
