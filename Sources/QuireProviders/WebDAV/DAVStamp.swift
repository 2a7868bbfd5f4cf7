import QuireCore

/// What Quire keeps at a document in a property of its own, where the server keeps such: the attributes that WebDAV has no
/// place for. It counts only for the version it was made for, because another program that writes the document leaves the
/// property as it is.
struct DAVStamp: Sendable {
    /// The property's namespace and name.
    static let space = "urn:quire"
    static let name = "stamp"

    var mtime: FileTime
    var mode: UInt16
    /// SHA-256 of the content; nil for directories.
    var checksum: ContentChecksum?
    var version: ProviderVersion

    init(mtime: FileTime, mode: UInt16, checksum: ContentChecksum?, version: ProviderVersion) {
        self.mtime = mtime
        self.mode = mode
        self.checksum = checksum
        self.version = version
    }

    /// Reads what `text` wrote; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 4)
        guard parts.count == 5, parts[0] == "1", let nanoseconds = Int64(parts[1]),
            let mode = UInt16(parts[2], radix: 8),
            mode <= 0o777
        else { return nil }
        self.init(
            mtime: FileTime(nanoseconds: nanoseconds), mode: mode, checksum: ContentChecksum(hex: String(parts[3])),
            version: ProviderVersion(String(parts[4])))
    }

    /// `1 MTIME-NANOSECONDS MODE-OCTAL SHA256-OR-DASH VERSION`.
    var text: String {
        "1 \(mtime.nanoseconds) \(String(mode & 0o777, radix: 8)) \(checksum?.description ?? "-") \(version)"
    }
}
