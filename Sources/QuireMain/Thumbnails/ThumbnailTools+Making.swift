import Foundation
import QuireCore
import QuireIndex
import QuireThumbnails

/// Why a thumbnail was not made, or not shown, this time.
struct ThumbnailFailure: Error, CustomStringConvertible {
    let description: String
}

/// Blocks; belongs on the pool.
extension ThumbnailTools {
    /// A picture of a document's content as it was when the index saw it last; nil when none can be made of it.
    func picture(
        of subject: ThumbnailSubject, _ type: String, isCancelled: () -> Bool
    ) throws(ThumbnailFailure) -> Data? {
        let path = subject.item.path
        do {
            let made: Data?
            if maker.drawsText(type) {
                made = try maker.picture(
                    ofText: documents.beginning(of: path, limit: ThumbnailMaker.textPart), isCancelled: isCancelled)
            } else {
                made = try maker.picture(
                    ofCopy: documents.copy(of: path), type: type, ending: Self.ending(path), isCancelled: isCancelled)
            }
            let local = subject.item.local
            guard try documents.isStill(path, size: local.size, mtime: local.mtime) else {
                throw ThumbnailFailure(description: "\(path) has just changed")
            }
            return made
        } catch let failure as ThumbnailFailure {
            throw failure
        } catch {
            throw ThumbnailFailure(description: "\(error)")
        }
    }

    /// Puts a picture into the user's cache, in all sizes.
    func show(_ picture: Data, of subject: ThumbnailSubject, isCancelled: () -> Bool) throws(ThumbnailFailure) {
        guard let png = PNGPicture(picture) else { return }
        let origin = png.text(ThumbnailOrigin.key).flatMap(ThumbnailOrigin.init) ?? .made
        let (place, name, longest) = (subject.place, subject.item.path.description, max(png.width, png.height))
        do {
            for size in ThumbnailSize.allCases where size != .xxLarge || longest > ThumbnailSize.xLarge.rawValue {
                let fits = longest <= size.rawValue
                guard let part = fits ? picture : try maker.scaled(picture, to: size.rawValue, isCancelled: isCancelled)
                else { continue }
                try cache.store(part, size, of: place, named: name, origin: origin)
            }
            // Who shows the largest size need not read the document for it.
            if longest <= ThumbnailSize.xLarge.rawValue { try cache.share(.xLarge, as: .xxLarge, of: place) }
        } catch {
            throw ThumbnailFailure(description: "\(name): \(error)")
        }
    }

    private static func ending(_ path: RelativePath) -> String {
        let name = path.name?.description ?? ""
        return name.split(separator: ".").last.map(String.init) ?? ""
    }
}
