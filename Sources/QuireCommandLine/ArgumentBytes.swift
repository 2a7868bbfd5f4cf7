import Glibc

/// Arguments of any bytes as strings and back: a byte that is not UTF-8 becomes a private character.
///
/// Names on Linux are bytes, arguments in Swift are text. Byte `b` of what is not UTF-8 becomes U+10FF00 + b, and so do
/// the bytes of those characters themselves: nothing is ambiguous.
package enum ArgumentBytes {
    private static let first: UInt32 = 0x10FF00
    private static let reserved = (first + 0x80)...(first + 0xFF)

    /// The process's arguments, without its name.
    package static func arguments() -> [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map {
                text(UnsafeBufferPointer(start: $0, count: strlen($0)).map { UInt8(bitPattern: $0) })
            }
        }
    }

    /// The text that stands for `bytes`.
    package static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isReserved) {
            return text
        }
        var result = String.UnicodeScalarView()
        var rest = bytes[...]
        while let byte = rest.first {
            let length = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            let scalar = String(validating: rest.prefix(length), as: UTF8.self)?.unicodeScalars
            if let scalar, scalar.count == 1, let only = scalar.first, !isReserved(only) {
                result.append(only)
                rest = rest.dropFirst(length)
            } else if let stand = Unicode.Scalar(first + UInt32(byte)) {
                result.append(stand)
                rest = rest.dropFirst()
            }
        }
        return String(result)
    }

    /// The bytes that `text` stands for.
    package static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar -> [UInt8] in
            isReserved(scalar) ? [UInt8(scalar.value - first)] : Array(String(scalar).utf8)
        }
    }

    private static func isReserved(_ scalar: Unicode.Scalar) -> Bool { reserved.contains(scalar.value) }
}
