import QuireCore

/// What an object is told to remember beside its content: for people and other tools; listings do not have it.
enum S3Metadata {
    /// SHA-256, in hex. Other programs may keep it when they write other content: a claim (see `S3Checksum`).
    static let checksum = "x-amz-meta-quire-sha256"
    /// Seconds since 1970 with a fraction, as rclone has it.
    static let mtime = "x-amz-meta-mtime"
    /// Permission bits, octal.
    static let mode = "x-amz-meta-quire-mode"

    static func fields(_ attributes: RemoteAttributes, _ content: ContentChecksum) -> HTTPFields {
        [
            checksum: content.description, mtime: DecimalTime.text(attributes.mtime),
            mode: String(attributes.mode & 0o777, radix: 8), "Content-Type": "application/octet-stream",
        ]
    }

    /// What an object remembers that is no matter of Quire's: what other programs have said of it.
    static func others(_ answer: HTTPAnswer) -> HTTPFields {
        var others = HTTPFields()
        for field in answer.fields.list {
            let name = field.name.lowercased()
            let isOwn = [checksum, mtime, mode].contains(name)
            if describing.contains(name) || name.hasPrefix("x-amz-meta-") && !isOwn { others[name] = field.value }
        }
        return others
    }

    private static let describing: Set = [
        "cache-control", "content-disposition", "content-encoding", "content-language", "content-type",
    ]

    /// The checksum that was sent with this content, or with what was there before; nil where it has none.
    static func claim(_ answer: HTTPAnswer) -> ContentChecksum? {
        answer.fields[checksum].flatMap { ContentChecksum(hex: $0) }
    }

    /// The time in an answer about an object; nil where it has none.
    static func mtime(_ answer: HTTPAnswer) -> FileTime? { answer.fields[mtime].flatMap { DecimalTime.parse($0) } }

    /// The permission bits in an answer about an object; nil where it has none.
    static func mode(_ answer: HTTPAnswer) -> UInt16? {
        answer.fields[mode].flatMap { UInt16($0, radix: 8) }.flatMap { $0 <= 0o777 ? $0 : nil }
    }
}
