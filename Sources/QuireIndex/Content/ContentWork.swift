package import QuireCore

/// A document whose words are to be read.
package struct ContentDocument: Sendable, Hashable {
    package let id: ItemID
    package let path: RelativePath
    package let type: ContentType
    package let size: ByteCount
    package let mtime: FileTime
    /// Of the version that is to be read.
    let generation: Int64
    let typeID: Int64
}

/// What was read in a document.
package struct ContentReading: Sendable {
    package let document: ContentDocument
    let text: String?

    /// - Parameter text: nil where none can be found: that version is not read again.
    package init(_ document: ContentDocument, text: String?) {
        self.document = document
        self.text = text
    }
}

/// The next documents to be read.
package struct ContentWork: Sendable {
    package var documents: [ContentDocument] = []
    /// Nothing is left for now.
    package var isLast = true
}
