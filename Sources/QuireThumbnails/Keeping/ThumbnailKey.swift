import Crypto
import Foundation
package import QuireCore

/// What a thumbnail is of, as its name says at the provider and in the home: where a document is and which version.
///
/// The provider's listing alone tells it, with no content and nothing but the listing: so it is known before content is
/// uploaded, and on devices that have none.
package struct ThumbnailKey: Sendable, Hashable {
    /// 32 hexadecimal digits: of the SHA-256 of the path below the container's root.
    package let document: String
    /// 16 hexadecimal digits: of the SHA-256 of size and modification time.
    package let version: String

    /// - Parameters:
    ///   - path: below the container's root.
    ///   - size: in bytes.
    package init(path: RelativePath, size: Int64, modified: FileTime) {
        document = Self.document(path)
        version = Self.digits(Array("\(size) \(modified.nanoseconds)".utf8), 16)
    }

    /// Reads a name; nil for what is none.
    package init?(name: String) {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 32, parts[1].count == 16,
            parts.allSatisfy({ $0.allSatisfy(Array("0123456789abcdef".utf8).contains) })
        else { return nil }
        document = String(decoding: parts[0], as: UTF8.self)
        version = String(decoding: parts[1], as: UTF8.self)
    }

    /// 49 letters, good for a file's name.
    package var name: String { "\(document)-\(version)" }

    /// The first half of the name of all that is of the document at `path`.
    package static func document(_ path: RelativePath) -> String { digits(path.bytes, 32) }

    private static func digits(_ bytes: [UInt8], _ count: Int) -> String {
        SHA256.hash(data: bytes).withUnsafeBytes {
            Hexadecimal.encode(UnsafeRawBufferPointer(rebasing: $0[..<(count / 2)]))
        }
    }
}
