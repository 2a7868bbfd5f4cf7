package import Foundation

/// A PNG file's bytes, as far as its texts are concerned (PNG specification, "Datastream structure", "tEXt").
package struct PNGPicture: Sendable {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The first chunk, of a length that is always the same: 4 bytes length, 4 name, 13 data, 4 checksum.
    private static let headerLength = 25

    private let bytes: [UInt8]
    /// In pixels.
    package let width: Int
    /// In pixels.
    package let height: Int

    /// Nil for what does not begin as a PNG file.
    package init?(_ data: Data) {
        bytes = Array(data)
        guard bytes.count >= Self.signature.count + Self.headerLength, bytes.starts(with: Self.signature),
            bytes[8..<16].elementsEqual([0, 0, 0, 13] + Array("IHDR".utf8))
        else { return nil }
        width = Self.number(bytes[16..<20])
        height = Self.number(bytes[20..<24])
        guard width > 0, height > 0 else { return nil }
    }

    /// The same picture with texts, in place of those that it has under these keys.
    ///
    /// - Parameter texts: Latin 1; keys have 1 to 79 characters.
    package func with(_ texts: [(key: String, text: String)]) -> Data {
        let end = Self.signature.count + Self.headerLength
        var out = Array(bytes[..<end])
        for (key, text) in texts { out += Self.chunk("tEXt", Array(key.utf8) + [0] + Array(text.utf8)) }
        for chunk in chunks(from: end) where !texts.contains(where: { Self.key(of: chunk, in: bytes) == $0.key }) {
            out += bytes[chunk]
        }
        return Data(out)
    }

    /// Whether it is a whole picture that a reader may be given: its sides at most `side` pixels, every chunk whole with the
    /// right checksum, from the header to the end, with data between, and nothing after it.
    package func isSound(side: Int) -> Bool {
        guard max(width, height) <= side, [1, 2, 4, 8, 16].contains(bytes[24]) else { return false }
        let chunks = chunks(from: Self.signature.count)
        guard chunks.last?.upperBound == bytes.count, chunks.last.map({ isNamed("IEND", $0) }) ?? false,
            chunks.contains(where: { isNamed("IDAT", $0) })
        else { return false }
        return chunks.allSatisfy { chunk in
            let end = chunk.upperBound - 4
            return Self.number(bytes[end..<chunk.upperBound])
                == Int(Self.checksum(bytes[(chunk.lowerBound + 4)..<end]))
        }
    }

    private func isNamed(_ name: String, _ chunk: Range<Int>) -> Bool {
        bytes[(chunk.lowerBound + 4)..<(chunk.lowerBound + 8)].elementsEqual(name.utf8)
    }

    /// The text under `key`; nil where there is none.
    package func text(_ key: String) -> String? {
        guard let chunk = chunks(from: Self.signature.count).first(where: { Self.key(of: $0, in: bytes) == key }) else {
            return nil
        }
        return String(
            decoding: bytes[(chunk.lowerBound + 8 + key.utf8.count + 1)..<(chunk.upperBound - 4)], as: UTF8.self)
    }

    /// Whole chunks; what is cut off at the end is left out, up to the last one also all that is no chunk.
    private func chunks(from start: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var next = start
        while next + 12 <= bytes.count {
            let end = next + 12 + Self.number(bytes[next..<(next + 4)])
            guard end <= bytes.count else { break }
            found.append(next..<end)
            next = end
        }
        return found
    }

    private static func key(of chunk: Range<Int>, in bytes: [UInt8]) -> String? {
        let data = bytes[(chunk.lowerBound + 8)..<(chunk.upperBound - 4)]
        guard bytes[(chunk.lowerBound + 4)..<(chunk.lowerBound + 8)].elementsEqual("tEXt".utf8),
            let end = data.firstIndex(of: 0)
        else { return nil }
        return String(decoding: data[..<end], as: UTF8.self)
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + data
        return big(UInt32(data.count)) + named + big(checksum(named))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func big(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// CRC-32 of each byte (PNG specification, "Cyclic Redundancy Code algorithm").
    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { value, byte in
            remainders[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8
        }
    }
}
