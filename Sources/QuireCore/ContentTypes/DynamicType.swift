/// Identifiers of MIME types that no uniform type is declared for: `dyn.mime.text.x-ldif` is `text/x-ldif`.
///
/// Uniform types have letters of ASCII, digits, `-` and `.` in their identifiers; every other byte is written `_` and two
/// hexadecimal digits. Apple's dynamic identifiers wrap extension and MIME type in base 32; ours can be read.
enum DynamicType {
    private static let prefix = "dyn.mime."

    /// - Parameter mime: in lower case, with one slash.
    static func identifier(_ mime: String) -> String {
        var text = prefix
        var isAfterSlash = false
        for byte in mime.utf8 {
            if byte == UInt8(ascii: "/"), !isAfterSlash {
                isAfterSlash = true
                text += "."
            } else if isPlain(byte), byte != UInt8(ascii: ".") || isAfterSlash {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16)
                text += byte < 16 ? "_0" + digits : "_" + digits
            }
        }
        return text
    }

    /// The MIME type that an identifier stands for; nil for one that is not of this form.
    static func mime(_ identifier: String) -> String? {
        guard identifier.hasPrefix(prefix) else { return nil }
        var bytes: [UInt8] = []
        var rest = identifier.utf8.dropFirst(prefix.utf8.count)
        var hasSlash = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "."):
                bytes.append(hasSlash ? byte : UInt8(ascii: "/"))
                hasSlash = true
            case UInt8(ascii: "_"):
                guard let code = UInt8(String(rest.prefix(2)) ?? "", radix: 16) else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(code)
            default: bytes.append(byte)
            }
        }
        return hasSlash ? String(validating: bytes, as: UTF8.self) : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}
