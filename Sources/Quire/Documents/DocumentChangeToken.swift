/// A moment in a document's edits, for `Document.updateChangeCount(withChangeCountToken:)`.
public struct DocumentChangeToken: Sendable, Hashable {
    /// Edits that were unsaved.
    let count: Int
    /// As `DocumentMachine` counts them: in another, the same number stands for other edits.
    let branch: Int
}
