/// Bytes as pairs of digits.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Lower case.
    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            digits.withUnsafeBufferPointer { digits in
                for (index, byte) in bytes.enumerated() {
                    text[2 * index] = digits[Int(byte >> 4)]
                    text[2 * index + 1] = digits[Int(byte & 15)]
                }
            }
            return 2 * bytes.count
        }
    }

    /// Lower case.
    package static func encode(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { encode($0) } }
}
