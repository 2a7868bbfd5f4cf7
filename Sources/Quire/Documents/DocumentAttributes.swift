public import Foundation
import CLinux
import Glibc
import QuireCore
public import QuireThumbnails

/// What a document writes beside its contents, see `Document.fileAttributesToWrite(to:for:)`.
public struct DocumentAttributes: Sendable, Hashable {
    /// Pictures of the document in PNG, by the size that each fits into. Whoever shows files finds them in the cache that
    /// freedesktop.org's thumbnail specification describes.
    public var thumbnailDictionary: [ThumbnailSize: Data]
    /// The document's tags; nil leaves them as they are. None may contain a comma.
    public var tagNames: [String]?

    /// By default nothing is written.
    public init(thumbnailDictionary: [ThumbnailSize: Data] = [:], tagNames: [String]? = nil) {
        self.thumbnailDictionary = thumbnailDictionary
        self.tagNames = tagNames
    }

    /// Writes them for the document that was saved at `url`. Blocks on the file system.
    ///
    /// - Returns: the first reason why some could not be written: the document is saved all the same.
    func write(to url: URL, _ cache: ThumbnailCache = .user) -> (any Error)? {
        var failure: (any Error)?
        do {
            if let tagNames { try write(tagNames, to: url) }
        } catch {
            failure = error
        }
        let unshown = cache.give(thumbnailDictionary, to: url)
        return failure ?? unshown
    }

    private func write(_ tags: [String], to url: URL) throws {
        guard !tags.contains(where: { $0.contains(",") }) else {
            throw QuireError(.usage, "\(url.path): a tag contains a comma", remedy: "Name it without")
        }
        let value = Array(tags.joined(separator: ",").utf8)
        try WrapperWriter.check(setxattr(url.path, "user.quire.tags", value, value.count, 0), url)
    }
}
