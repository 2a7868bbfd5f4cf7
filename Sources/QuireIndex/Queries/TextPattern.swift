import QuireCore

/// The text of a query: `*` stands for any run of bytes, `?` for one, `\` takes the next literally.
package struct TextPattern: Sendable, Hashable {
    /// As it was written, without quotes.
    package let text: String
    /// Written `"…"c`: upper and lower case are alike.
    package var ignoresCase: Bool { folding.ignoresCase }
    /// Written `"…"d`: letters with and without marks are alike.
    package var ignoresDiacritics: Bool { folding.ignoresDiacritics }
    private let folding: TextFolding
    private let glob: Glob
    private let folded: [UInt8]

    package init(_ text: String, ignoresCase: Bool = false, ignoresDiacritics: Bool = false) {
        self.text = text
        folding = TextFolding(ignoresCase: ignoresCase, ignoresDiacritics: ignoresDiacritics)
        let folded = folding.folded(text)
        self.folded = Array(folded.utf8)
        // Queries have no sets of characters.
        glob = Glob(folded.utf8.contains(UInt8(ascii: "[")) ? folded.replacing("[", with: "\\[") : folded)
    }

    /// Whether the whole of `bytes` is like the pattern.
    package func matches(_ bytes: [UInt8]) -> Bool { glob.matches(folding.folded(bytes)) }

    /// Where `bytes` stands to the text, by bytes: less than, equal to or more than 0.
    func order(of bytes: [UInt8]) -> Int {
        let bytes = folding.folded(bytes)
        if bytes == folded { return 0 }
        return bytes.lexicographicallyPrecedes(folded) ? -1 : 1
    }
}
