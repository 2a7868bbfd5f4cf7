package import QuireCore

/// What a file manager knows a document by, and what a thumbnail says of it.
package struct DocumentPlace: Sendable, Hashable {
    /// `file://` and its absolute path, as GLib writes it.
    package let uri: String
    /// Whole seconds since 1970.
    package let modified: Int
    /// In bytes; nil is not said.
    package var size: Int64?
    package var mediaType: String?

    /// - Parameters:
    ///   - path: absolute, with no links in it.
    ///   - modified: of its content; the second counts.
    package init(path: [UInt8], modified: FileTime, size: Int64? = nil, mediaType: String? = nil) {
        uri = ThumbnailCache.uri(path)
        self.modified = modified.seconds
        self.size = size
        self.mediaType = mediaType
    }

    /// A place that was told.
    ///
    /// - Parameters:
    ///   - uri: `Thumb::URI`.
    ///   - modified: `Thumb::MTime`.
    package init(uri: String, modified: Int) {
        self.uri = uri
        self.modified = modified
    }

    /// The texts of a thumbnail of it (Thumbnail Managing Standard, "Thumbnail Attributes").
    var texts: [(key: String, text: String)] {
        var texts = [("Thumb::URI", uri), ("Thumb::MTime", String(modified)), ("Software", ThumbnailCache.software)]
        if let size { texts.append(("Thumb::Size", String(size))) }
        if let mediaType { texts.append(("Thumb::Mimetype", mediaType)) }
        return texts
    }
}

/// Where a picture of a document comes from.
package enum ThumbnailOrigin: String, Sendable, Hashable, Codable {
    /// Set by an app or a person: stays as long as the document's version does.
    case given
    /// Made of the document's content.
    case made

    /// The text in the picture that says so.
    package static let key = "Quire::Origin"
}
