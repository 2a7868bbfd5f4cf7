/// The methods about thumbnails.
package enum ThumbnailMethods {
    /// Where a document's thumbnail lies; made or brought first where there is none. Fetches no content.
    package enum Show: WireMethod {
        package static let name = "thumbnail"
        package typealias Parameters = ItemMethods.Target

        package struct Picture: Codable, Sendable, Hashable {
            /// The side that it fits into: 128, 256, 512 or 1024.
            package var size: Int
            /// Absolute path of the PNG file.
            package var file: String

            package init(size: Int, file: String) {
                self.size = size
                self.file = file
            }
        }

        package struct Result: Codable, Sendable {
            /// The smallest first.
            package var pictures: [Picture]
            /// `given` by an app or a person, or `made` of the content.
            package var origin: String

            package init(pictures: [Picture], origin: String) {
                self.pictures = pictures
                self.origin = origin
            }
        }
    }

    /// What a picture of the document must say, and where it goes, to become its thumbnail by `Adopt`.
    package enum Place: WireMethod {
        package static let name = "thumbnailPlace"
        package typealias Parameters = ItemMethods.Target

        package struct Result: Codable, Sendable {
            /// `Thumb::URI`.
            package var uri: String
            /// `Thumb::MTime`.
            package var modified: Int
            /// The cache: absolute path of the directory that has the sizes' directories in it.
            package var directory: String

            package init(uri: String, modified: Int, directory: String) {
                self.uri = uri
                self.modified = modified
                self.directory = directory
            }
        }
    }

    /// Takes the largest picture that lies in the cache for the document as it is now, and is not made by the daemon.
    package enum Adopt: WireMethod {
        package static let name = "adoptThumbnail"
        package typealias Parameters = ItemMethods.Target
        package typealias Result = WireNothing
    }
}
