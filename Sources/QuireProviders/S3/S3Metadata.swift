import QuireCore

/// What an object is told to remember beside its content: for people and other tools; listings do not have it.
enum S3Metadata {
    /// SHA-256, in hex.
    static let checksum = "x-amz-meta-quire-sha256"
    /// Seconds since 1970 with a fraction, as rclone has it.
    static let mtime = "x-amz-meta-mtime"
    /// Permission bits, octal.
    static let mode = "x-amz-meta-quire-mode"

    static func fields(_ attributes: RemoteAttributes, _ content: ContentChecksum) -> HTTPFields {
        let fraction = String(attributes.mtime.subsecondNanoseconds + 1_000_000_000).dropFirst()
        return [
            checksum: content.description, mtime: "\(attributes.mtime.seconds).\(fraction)",
            mode: String(attributes.mode & 0o777, radix: 8), "Content-Type": "application/octet-stream",
        ]
    }
}
