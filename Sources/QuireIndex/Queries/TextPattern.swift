import Foundation
import QuireCore

/// The text of a query: `*` stands for any run of bytes, `?` for one, `\` takes the next literally.
package struct TextPattern: Sendable, Hashable {
    /// As it was written, without quotes.
    package let text: String
    /// Written `"…"c`: upper and lower case are alike.
    package let ignoresCase: Bool
    /// Written `"…"d`: letters with and without marks are alike.
    package let ignoresDiacritics: Bool
    private let glob: Glob
    private let folded: [UInt8]

    package init(_ text: String, ignoresCase: Bool = false, ignoresDiacritics: Bool = false) {
        self.text = text
        self.ignoresCase = ignoresCase
        self.ignoresDiacritics = ignoresDiacritics
        let folded = Self.folded(text, ignoresCase, ignoresDiacritics)
        self.folded = Array(folded.utf8)
        // Queries have no sets of characters.
        glob = Glob(folded.replacing("[", with: "\\["))
    }

    /// Whether the whole of `bytes` is like the pattern.
    package func matches(_ bytes: [UInt8]) -> Bool { glob.matches(folded(bytes)) }

    /// Where `bytes` stands to the text, by bytes: less than, equal to or more than 0.
    func order(of bytes: [UInt8]) -> Int {
        let bytes = folded(bytes)
        if bytes == folded { return 0 }
        return bytes.lexicographicallyPrecedes(folded) ? -1 : 1
    }

    /// What is not UTF-8 has letters of ASCII only.
    private func folded(_ bytes: [UInt8]) -> [UInt8] {
        guard ignoresCase || ignoresDiacritics else { return bytes }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return ignoresCase ? bytes.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 } : bytes
        }
        return Array(Self.folded(text, ignoresCase, ignoresDiacritics).utf8)
    }

    private static func folded(_ text: String, _ ignoresCase: Bool, _ ignoresDiacritics: Bool) -> String {
        var options: String.CompareOptions = []
        if ignoresCase { options.insert(.caseInsensitive) }
        if ignoresDiacritics { options.insert(.diacriticInsensitive) }
        return options.isEmpty ? text : text.folding(options: options, locale: nil)
    }
}
