import QuireCore

/// What Quire keeps at a document in a property of its own, where the server keeps such: the attributes that WebDAV has no
/// place for. But for the tags it counts only for the version it was made for, because another program that writes the document
/// leaves the property as it is.
struct DAVStamp: Sendable {
    /// The property's namespace and name.
    static let space = "urn:quire"
    static let name = "stamp"

    var mtime: FileTime
    var mode: UInt16
    /// SHA-256 of the content; nil for directories.
    var checksum: ContentChecksum?
    /// The user's tags; they count for every version.
    var tags: [String] = []
    var version: ProviderVersion
}

extension DAVStamp {
    /// Reads what `text` wrote; nil for anything else.
    init?(_ text: String) {
        let count = text.hasPrefix("2 ") ? 6 : 5
        let parts = text.split(separator: " ", maxSplits: count - 1)
        guard parts.count == count, ["1", "2"].contains(parts[0]), let nanoseconds = Int64(parts[1]),
            let mode = UInt16(parts[2], radix: 8),
            mode <= 0o777
        else { return nil }
        let tags =
            count == 5
            ? []
            : parts[4].split(separator: ",").compactMap {
                String(validating: PercentEncoding.decode($0), as: UTF8.self)
            }
        self.init(
            mtime: FileTime(nanoseconds: nanoseconds), mode: mode, checksum: ContentChecksum(hex: String(parts[3])),
            tags: tags, version: ProviderVersion(String(parts[count - 1])))
    }

    /// `1 MTIME-NANOSECONDS MODE-OCTAL SHA256-OR-DASH VERSION`; with tags `2 … SHA256-OR-DASH TAG,TAG VERSION`, their bytes
    /// other than letters, digits and `-._~` as `%XX`.
    var text: String {
        let attributes = "\(mtime.nanoseconds) \(String(mode & 0o777, radix: 8)) \(checksum?.description ?? "-")"
        guard !tags.isEmpty else { return "1 \(attributes) \(version)" }
        return "2 \(attributes) \(tags.map { PercentEncoding.encode($0.utf8) }.joined(separator: ",")) \(version)"
    }
}
