/// Bytes as text of 64 characters. (RFC 4648 §4)
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// With padding, without line ends.
    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let index = Int(bits >> UInt32(18 - 6 * place) & 0x3F)
                text.append(place <= group.count ? alphabet[index] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil where the text has other characters, or is not padded to whole groups.
    static func bytes(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count % 4 == 0 else { return nil }
        let padded = text.suffix(2).count { $0 == padding }
        let digits = text.dropLast(padded)
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for character in digits {
            guard let digit = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }
}
