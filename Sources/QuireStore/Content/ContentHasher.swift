import Crypto
import Glibc
package import QuireCore

/// Computes the SHA-256 of content that comes in pieces.
package struct ContentHasher: Sendable {
    private var state = SHA256()

    package init() {}

    /// Adds the next bytes; the buffer is not kept.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

    /// Adds `count` zeros, as a hole reads.
    package mutating func update(zeros count: Int64) {
        var rest = count
        Self.zeros.withUnsafeBytes { zeros in
            while rest > 0 {
                let part = Int(min(rest, Int64(zeros.count)))
                state.update(bufferPointer: UnsafeRawBufferPointer(rebasing: zeros[..<part]))
                rest -= Int64(part)
            }
        }
    }

    /// The checksum of all bytes so far.
    package consuming func finalize() -> ContentChecksum {
        guard let checksum = ContentChecksum(bytes: Array(state.finalize())) else {
            preconditionFailure("a SHA-256 has 32 bytes")
        }
        return checksum
    }

    /// The checksum of bytes in memory (a symlink's target).
    package static func checksum(of bytes: [UInt8]) -> ContentChecksum {
        var hasher = ContentHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        return hasher.finalize()
    }

    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)
}
