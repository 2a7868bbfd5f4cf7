/// Text of bytes whose encoding nobody tells.
package enum TextDecoder {
    /// By a byte order mark UTF-8 or UTF-16, else UTF-8, else ISO 8859-1.
    ///
    /// - Parameters:
    ///   - bytes: a document, or its beginning.
    ///   - isWhole: nothing follows; otherwise a character of UTF-8 that is cut off at the end is left out.
    /// - Returns: without the mark; nil for what has NULs in it and is not UTF-16: that is no text.
    package static func text(_ bytes: [UInt8], isWhole: Bool) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes) { UInt16($1) << 8 | UInt16($0) } }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes) { UInt16($0) << 8 | UInt16($1) } }
        let body = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard !body.contains(0) else { return nil }
        for cut in 0...(isWhole ? 0 : min(3, body.count)) {
            if let text = String(validating: body.dropLast(cut), as: UTF8.self) { return text }
        }
        return String(decoding: body.map(UInt16.init), as: UTF16.self)
    }

    private static func utf16(_ bytes: [UInt8], _ unit: (UInt8, UInt8) -> UInt16) -> String {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        return String(decoding: units, as: UTF16.self)
    }
}
