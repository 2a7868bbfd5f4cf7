/// What a person does.
enum Key: Sendable {
    case text(String)
    case delete
    case move(Caret.Direction)
    case undo, redo
    case save, leave, resized
}

/// Makes keys of a terminal's bytes; characters and sequences may come in parts.
struct KeyParser {
    private var pending: [UInt8] = []

    mutating func parse(_ bytes: some Sequence<UInt8>) -> [Key] {
        pending += bytes
        var keys: [Key] = []
        while let (key, length) = first() {
            pending.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// The first key, nil for what means nothing here, and its length; nil where more bytes are needed.
    private func first() -> (Key?, Int)? {
        guard let byte = pending.first else { return nil }
        switch byte {
        case 0x1B: return sequence()
        case 0x13: return (.save, 1)
        case 0x11: return (.leave, 1)
        case 0x1A: return (.undo, 1)
        case 0x19: return (.redo, 1)
        case 0x7F, 0x08: return (.delete, 1)
        case 0x0D, 0x0A: return (.text("\n"), 1)
        case 0x09: return (.text("    "), 1)
        case 0..<0x20: return (nil, 1)
        default: return character(byte)
        }
    }

    private func sequence() -> (Key?, Int)? {
        guard pending.count >= 2 else { return nil }
        guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else { return (nil, 1) }
        guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
        switch pending[end] {
        case UInt8(ascii: "A"): return (.move(.up), end + 1)
        case UInt8(ascii: "B"): return (.move(.down), end + 1)
        case UInt8(ascii: "C"): return (.move(.right), end + 1)
        case UInt8(ascii: "D"): return (.move(.left), end + 1)
        default: return (nil, end + 1)
        }
    }

    private func character(_ byte: UInt8) -> (Key?, Int)? {
        let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        guard pending.count >= length else { return nil }
        guard let text = String(validating: pending.prefix(length), as: UTF8.self) else { return (nil, 1) }
        return (.text(text), length)
    }
}
