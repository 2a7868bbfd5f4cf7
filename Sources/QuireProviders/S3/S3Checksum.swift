import QuireCore

/// The SHA-256 that a store itself keeps of an object's content: it has compared it with what came, or counted it.
///
/// Who writes other content without one leaves none. Of what was uploaded in parts stores have none of the whole, until it is
/// copied; some have none at all.
enum S3Checksum {
    /// In Base64; with a number behind it where it is one of parts' checksums.
    static let field = "x-amz-checksum-sha256"
    /// What a request asks for it with.
    static let wish: HTTPFields = ["x-amz-checksum-mode": "ENABLED"]
    /// What a copy is sent with, so that its checksum is counted.
    static let copyWish: HTTPFields = ["x-amz-checksum-algorithm": "SHA256"]

    /// The one in an answer to a request that asked for it.
    static func told(_ answer: HTTPAnswer) -> ContentChecksum? {
        answer.fields[field].flatMap { Base64.decode($0) }.flatMap { ContentChecksum(bytes: $0) }
    }
}
