import QuireCoordination
import QuireCore

/// Accesses in words, as messages and `quire coordination` have them.
extension Access {
    /// Reads an access.
    ///
    /// - Throws: `.usage` for words that are none, and for a write with more than one option.
    init(words: String, path: RelativePath) throws(QuireError) {
        guard let access = AccessWords(words) else { throw Self.refusal(words) }
        switch access.kind {
        case .read: self = .reading(path, ReadingOptions(rawValue: UInt8(truncatingIfNeeded: access.bits)))
        case .write:
            guard let option = WritingOption(rawValue: UInt8(truncatingIfNeeded: access.bits)) else {
                throw Self.refusal(words)
            }
            self = .writing(path, option)
        }
    }

    /// The words for it.
    var words: String {
        switch intent {
        case .reading(let options): AccessWords(.read, bits: UInt(options.rawValue)).text
        case .writing(let option): AccessWords(.write, bits: UInt(option.rawValue)).text
        }
    }

    private static func refusal(_ words: String) -> QuireError {
        QuireError(
            .usage, "\"\(words)\" is not an access",
            remedy: "Use read with \(AccessWords.readings.joined(separator: ", ")), or write with one of "
                + AccessWords.writings.joined(separator: ", "))
    }
}
