import QuireCore

/// Rates of transfers as people write them.
enum TransferRate {
    /// Below this a server's patience would end between two pieces, in bytes a second.
    static let least = ByteCount(16_000)

    /// Reads `2 MB/s`, and without `/s`; nil for anything else, and for less than `least`.
    static func read(_ text: String) -> ByteCount? {
        var text = text[...]
        if text.hasSuffix("/s") { text = text.dropLast(2) }
        return ByteCount(text: String(text)).flatMap { $0 < least ? nil : $0 }
    }

    /// So that `read` reads the same.
    static func text(_ rate: ByteCount) -> String { "\(rate.exactText)/s" }

    /// A rate of a message: nil for 0, which means none.
    static func checked(_ bytes: Int64) throws(QuireError) -> ByteCount? {
        guard bytes != 0 else { return nil }
        guard bytes >= least.bytes else {
            throw QuireError(
                .usage, "\(bytes) bytes a second are too few",
                remedy: "Allow at least \(text(least)), or use `quire pause`")
        }
        return ByteCount(bytes)
    }
}
