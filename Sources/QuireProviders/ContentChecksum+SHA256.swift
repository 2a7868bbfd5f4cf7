import Crypto
package import QuireCore

extension ContentChecksum {
    /// The SHA-256 of `bytes`.
    package static func sha256(of bytes: [UInt8]) -> ContentChecksum {
        guard let checksum = ContentChecksum(bytes: Array(SHA256.hash(data: bytes))) else {
            preconditionFailure("a SHA-256 has 32 bytes")
        }
        return checksum
    }
}
