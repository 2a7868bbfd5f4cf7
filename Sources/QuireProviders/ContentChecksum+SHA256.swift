import Crypto
package import QuireCore

extension ContentChecksum {
    /// The SHA-256 of `bytes`.
    package static func sha256(of bytes: [UInt8]) -> ContentChecksum { ContentChecksum(SHA256.hash(data: bytes)) }

    init(_ digest: SHA256.Digest) {
        guard let checksum = ContentChecksum(bytes: Array(digest)) else {
            preconditionFailure("a SHA-256 has 32 bytes")
        }
        self = checksum
    }
}
