package import QuireCore

/// Percent-encoding of bytes (RFC 3986 §2.1), for paths and queries alike.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Every byte but the unreserved ones (letters, digits, `-._~`) as `%XX`: what a signature wants, and no server
    /// reads differently.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        for byte in bytes {
            if isUnreserved(byte) {
                out.append(byte)
            } else {
                out += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The names of a path, encoded and joined by `/`; empty for the root.
    package static func encode(_ path: RelativePath) -> String {
        path.components.map { encode($0.bytes) }.joined(separator: "/")
    }

    /// The bytes that `text` stands for. A `%` without two digits after it is itself.
    package static func decode(_ text: some StringProtocol) -> [UInt8] {
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == 0x25, rest.count >= 2, let high = value(rest[rest.startIndex]),
                let low = value(rest[rest.startIndex + 1])
            {
                out.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                out.append(byte)
            }
        }
        return out
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}
