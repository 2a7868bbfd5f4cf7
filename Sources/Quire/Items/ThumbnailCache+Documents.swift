import CLinux
import Foundation
import Glibc
import QuireCore
import QuireThumbnails

extension ThumbnailCache {
    /// Stores a picture of the document as it is now, given by the app; see `store(_:_:of:named:origin:)`.
    ///
    /// - Throws: as that; `.fileNoSuchFile` where no document is.
    func store(_ picture: Data, _ size: ThumbnailSize, of document: URL) throws {
        guard let place = DocumentPlace(of: document) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: document.path])
        }
        try store(picture, size, of: place, named: document.path)
    }

    /// Stores an app's pictures of a document, and tells the drive, which sends them to the provider.
    ///
    /// - Returns: the first reason why some could not be stored.
    func give(_ pictures: [ThumbnailSize: Data], to document: URL) -> (any Error)? {
        guard !pictures.isEmpty else { return nil }
        var failure: (any Error)?
        for (size, picture) in pictures {
            do {
                try store(picture, size, of: document)
            } catch {
                failure = failure ?? error
            }
        }
        // Outside a drive nobody listens, and the attribute may not even be possible.
        if getxattr(document.path, "user.quire.id", nil, 0) > 0 {
            let value = Array("given".utf8)
            if setxattr(document.path, "user.quire.thumbnail", value, value.count, 0) != 0 {
                let cause = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                failure =
                    failure
                    ?? CocoaError(
                        .fileWriteUnknown, userInfo: [NSFilePathErrorKey: document.path, NSUnderlyingErrorKey: cause])
            }
        }
        return failure
    }

    /// The picture of a document as it is now; nil where there is none, or it is of an earlier content.
    func picture(_ size: ThumbnailSize, of document: URL) -> Data? {
        DocumentPlace(of: document).flatMap { picture(size, of: $0) }
    }

    /// All pictures of a document as it is now.
    func pictures(of document: URL) -> [ThumbnailSize: Data] {
        DocumentPlace(of: document).map { pictures(of: $0) } ?? [:]
    }
}

extension DocumentPlace {
    /// The URI by the path that has no links in it, and the second of its change; nil where nothing is.
    init?(of document: URL) {
        var status = stat()
        guard let path = realPath(document.path), stat(path, &status) == 0 else { return nil }
        self.init(path: Array(path.utf8), modified: FileTime(seconds: status.st_mtim.tv_sec, nanoseconds: 0))
    }
}
