/// What a query looks for in the content of documents: words, one after another.
///
/// Case and marks never count: the words are kept without. Each ideograph and each letter of kana is a word of its own, as
/// those scripts put no spaces between words.
package struct WordPattern: Sendable, Hashable {
    /// Most words of one pattern.
    static let mostWords = 100

    /// As it was written, less escapes and the `*` at both ends.
    package let text: String
    /// The last word may go on.
    package let isPrefix: Bool

    /// - Parameter pattern: `\` takes the next character literally; `*` may stand at both ends, where the one at the beginning,
    ///   and one that stands apart, say nothing: words are looked for everywhere.
    /// - Returns: nil where no word is in it, more than `mostWords` are, or a wildcard stands inside.
    package init?(_ pattern: String) {
        var (scalars, wildcards): ([Unicode.Scalar], Set<Int>) = ([], [])
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if scalar == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            if !isEscaped, scalar == "*" || scalar == "?" { wildcards.insert(scalars.count) }
            scalars.append(scalar)
            isEscaped = false
        }
        var last = scalars.count
        while last > 0, wildcards.contains(last - 1), scalars[last - 1] == "*" { last -= 1 }
        var first = 0
        while first < last, wildcards.contains(first), scalars[first] == "*" { first += 1 }
        guard !wildcards.contains(where: { (first..<last).contains($0) }) else { return nil }
        text = String(String.UnicodeScalarView(scalars[first..<last]))
        isPrefix = last < scalars.count && WordText.isOfWord(scalars[last - 1 < 0 ? 0 : last - 1])
        guard (1...Self.mostWords).contains(WordText.wordCount(text, upTo: Self.mostWords + 1)) else { return nil }
    }

    /// As FTS5's query syntax has it (sqlite.org/fts5.html, 3): a phrase.
    var match: String {
        "\"" + WordText.prepared(text).replacing("\"", with: "\"\"").replacing("\0", with: " ") + "\""
            + (isPrefix ? " *" : "")
    }
}
