import QuireCore

/// What a server says about a refusal, for people.
package enum ServerWords {
    /// Most bytes of an answer that are looked at.
    static let limit = 64 << 10

    /// The text of an answer's body without markup, on one line, 200 characters at the most; nil where there is none.
    package static func plain(_ answer: HTTPAnswer) -> String? {
        var text: [UInt8] = []
        var isTag = false
        for byte in answer.body.prefix(4096) {
            switch byte {
            case 0x3C:
                isTag = true
                text.append(0x20)
            case 0x3E: isTag = false
            default: if !isTag { text.append(byte) }
            }
        }
        return shortened(String(decoding: text, as: UTF8.self))
    }

    /// On one line, without control characters, 200 characters at the most; nil where nothing is left.
    package static func shortened(_ text: String) -> String? {
        let words = text.split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
        guard !words.isEmpty else { return nil }
        let line = words.joined(separator: " ")
        return line.count <= 200 ? line : "\(line.prefix(199))…"
    }
}
