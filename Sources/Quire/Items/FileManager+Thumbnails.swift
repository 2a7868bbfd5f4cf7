public import Foundation
import QuireCore
public import QuireThumbnails

/// Pictures of documents (the resource value `thumbnailDictionary`).
extension FileManager {
    /// Gives a document pictures, in PNG, by the size that each fits into. File managers show them, here and on the user's
    /// other devices, in place of those made of its content, as long as the document stays as it is.
    ///
    /// Read by `promisedItemValues`, whether or not the content is here.
    /// - Throws: `.usage` for what is no PNG file or larger than its size; `CocoaError` where the document is not there or the
    ///   picture cannot be written. The others are set all the same.
    public func setThumbnailDictionary(_ pictures: [ThumbnailSize: Data], ofItemAt url: URL) async throws {
        try await LibraryExecutor.run {
            if let failure = ThumbnailCache.user.give(pictures, to: url) { throw failure }
        }
    }
}
