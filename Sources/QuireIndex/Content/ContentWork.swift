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

    /// - Parameters:
    ///   - generation: of the version that is to be read.
    ///   - typeID: of the row of `types`.
    package init(
        id: ItemID, path: RelativePath, type: ContentType, size: ByteCount, mtime: FileTime, generation: Int64,
        typeID: Int64
    ) {
        self.id = id
        self.path = path
        self.type = type
        self.size = size
        self.mtime = mtime
        self.generation = generation
        self.typeID = typeID
    }
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
