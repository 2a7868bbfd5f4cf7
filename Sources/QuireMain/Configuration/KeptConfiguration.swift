import QuireCore

/// What `config.toml` said last, kept in the home for when that is lost: `config.toml.last`.
///
/// The same text, below a comment that names the file it is of.
struct KeptConfiguration: Sendable, Equatable {
    let path: String

    private static let heading = "# Kept for when it is lost: "

    /// Keeps the text of the file at the path `origin`; writes nothing where that is kept already.
    func keep(_ text: [UInt8], of origin: String) throws(QuireError) {
        var text = text[...]
        // One that was put back says of itself where it was.
        if text.starts(with: Self.heading.utf8) { text = text.drop { $0 != Self.newline }.dropFirst() }
        let bytes = Array("\(Self.heading)\(Self.named(origin))\n".utf8) + text
        guard try DurableFile.read(path) != bytes else { return }
        try DurableFile.replace(path, with: bytes)
    }

    /// All that is kept, with the comment; nil where nothing is.
    func bytes() throws(QuireError) -> [UInt8]? { try DurableFile.read(path) }

    /// Has it as `bytes()` told it.
    func putBack(_ bytes: [UInt8]?) throws(QuireError) {
        if let bytes { try DurableFile.replace(path, with: bytes) } else { try DurableFile.remove(path) }
    }

    /// The path of the file whose text is kept; nil where none is, or it cannot be told.
    func origin() throws(QuireError) -> String? {
        guard let bytes = try DurableFile.read(path), bytes.starts(with: Self.heading.utf8) else { return nil }
        let name = bytes.dropFirst(Self.heading.utf8.count).prefix { $0 != Self.newline }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }

    /// A comment is one line.
    private static func named(_ path: String) -> String {
        path.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? "" : path
    }

    private static let newline = UInt8(ascii: "\n")
}
