import QuireCore

/// A line of `quire manifest`, as `sha256sum` writes it and `sha256sum -c` reads it.
enum ManifestLine {
    /// `CHECKSUM  PATH`. A path with a backslash, newline or carriage return is escaped, and the line then starts with a
    /// backslash (GNU coreutils, "md5sum invocation").
    static func bytes(_ checksum: ContentChecksum, path: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        for byte in path {
            switch byte {
            case UInt8(ascii: "\\"): escaped += Array(#"\\"#.utf8)
            case UInt8(ascii: "\n"): escaped += Array(#"\n"#.utf8)
            case UInt8(ascii: "\r"): escaped += Array(#"\r"#.utf8)
            default: escaped.append(byte)
            }
        }
        let mark = escaped.count == path.count ? "" : "\\"
        return Array("\(mark)\(checksum)  ".utf8) + escaped + [UInt8(ascii: "\n")]
    }
}
