/// Bytes of names shown to people.
package enum DisplayBytes {
    /// Valid UTF-8 stays as it is; every other byte, and every control character, becomes `\xNN`.
    package static func escaped(_ bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        {
            return text
        }
        var result = ""
        var rest = Array(bytes)[...]
        while let first = rest.first {
            if first >= 0x20, first < 0x7F {
                result.unicodeScalars.append(Unicode.Scalar(first))
                rest = rest.dropFirst()
            } else if first >= 0x80, let (text, count) = scalar(rest) {
                result += text
                rest = rest.dropFirst(count)
            } else {
                let digits = String(first, radix: 16)
                result += "\\x" + (digits.count == 1 ? "0" : "") + digits
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// The character that `bytes`, which begin with no ASCII byte, begin with.
    private static func scalar(_ bytes: ArraySlice<UInt8>) -> (String, Int)? {
        for count in 2...4 where bytes.count >= count {
            if let text = String(validating: bytes.prefix(count), as: UTF8.self) { return (text, count) }
        }
        return nil
    }
}
