package import QuireCore

/// How much of a document is looked at for its words, and how much is kept. Our choice: the words that a document is looked for
/// stand in its first pages.
package enum ContentLimits {
    /// Of a text, of a file that a confined program wrote, or of all of them.
    package static let input = ByteCount(10_000_000)
    /// Of the text that is kept, in UTF-8.
    package static let text = ByteCount(1_000_000)
    /// Larger documents are not copied for a program.
    package static let document = ByteCount(268_435_456)
}
