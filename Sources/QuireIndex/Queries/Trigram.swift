/// Three bytes of a name, one after another.
struct Trigram: Sendable, Hashable {
    private let packed: UInt32

    private init(_ first: UInt8, _ second: UInt8, _ third: UInt8) {
        packed = UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
    }

    /// From the first to the last.
    static func all(in text: [UInt8]) -> some Sequence<Trigram> {
        text.indices.dropLast(2).lazy.map { Trigram(text[$0], text[$0 + 1], text[$0 + 2]) }
    }

    /// As FTS5 is to look for it: of ASCII, it is text.
    var quoted: String {
        let bytes = [16, 8, 0].map { UInt8(truncatingIfNeeded: packed >> $0) }
        return "\"" + String(decoding: bytes, as: UTF8.self).replacing("\"", with: "\"\"") + "\""
    }
}
