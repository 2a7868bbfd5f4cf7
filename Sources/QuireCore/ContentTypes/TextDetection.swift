/// Whether the beginning of some content is text.
enum TextDetection {
    enum Finding: Sendable, Hashable {
        case none
        case utf8
        /// Text of another encoding, with each byte a character.
        case other
        case utf16
    }

    /// - Parameter isWhole: nothing follows; otherwise the last character may be cut off.
    static func find(_ bytes: [UInt8], isWhole: Bool) -> Finding {
        if bytes.isEmpty { return .none }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return .utf16 }
        guard !bytes.contains(where: isControl) else { return .none }
        var end = bytes.count
        if !isWhole {
            // A character has at most four bytes: back to before the one that may be cut off.
            while end > 0, bytes.count - end < 3, bytes[end - 1] & 0xC0 == 0x80 { end -= 1 }
            if end > 0, bytes[end - 1] >= 0xC0 { end -= 1 }
        }
        if String(validating: bytes[..<end], as: UTF8.self) != nil { return .utf8 }
        // Letters beyond ASCII are few in a text of one byte a character.
        let high = bytes.count { $0 >= 0x80 }
        return high * 3 < bytes.count ? .other : .none
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        // Tab, line feed, vertical tab, form feed, carriage return and escape stand in texts.
        (byte < 0x20 && !(0x09...0x0D).contains(byte) && byte != 0x1B) || byte == 0x7F
    }
}
