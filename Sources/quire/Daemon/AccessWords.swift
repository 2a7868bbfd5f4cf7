import QuireCoordination
import QuireCore

/// Accesses in words, as messages and `quire coordination` have them: `read withoutChanges`, `write forDeleting`.
enum AccessWords {
    private static let readings: [(word: String, option: ReadingOptions)] = [
        ("withoutChanges", .withoutChanges), ("resolvesSymbolicLink", .resolvesSymbolicLink),
        ("immediatelyAvailableMetadataOnly", .immediatelyAvailableMetadataOnly), ("forUploading", .forUploading),
    ]

    private static let writings: [(word: String, option: WritingOption)] = [
        ("forDeleting", .deleting), ("forMoving", .moving), ("forMerging", .merging), ("forReplacing", .replacing),
        ("contentIndependentMetadataOnly", .contentIndependentMetadataOnly),
    ]

    /// Reads an access.
    static func access(_ text: String, _ path: RelativePath) throws(QuireError) -> Access {
        let words = text.split(separator: " ").map(String.init)
        switch words.first {
        case "read":
            var options: ReadingOptions = []
            for word in words.dropFirst() {
                guard let known = readings.first(where: { $0.word == word }) else { throw refusal(text) }
                options.insert(known.option)
            }
            return .reading(path, options)
        case "write":
            guard words.count > 1 else { return .writing(path) }
            guard words.count == 2, let known = writings.first(where: { $0.word == words[1] }) else {
                throw refusal(text)
            }
            return .writing(path, known.option)
        default: throw refusal(text)
        }
    }

    /// The words for an access.
    static func words(_ access: Access) -> String {
        switch access.intent {
        case .reading(let options):
            return (["read"] + readings.filter { options.contains($0.option) }.map(\.word)).joined(separator: " ")
        case .writing(let option):
            return (["write"] + writings.filter { $0.option == option }.map(\.word)).joined(separator: " ")
        }
    }

    private static func refusal(_ text: String) -> QuireError {
        QuireError(
            .usage, "\"\(text)\" is not an access",
            remedy: "Use read with \(readings.map(\.word).joined(separator: ", ")), or write with one of "
                + writings.map(\.word).joined(separator: ", "))
    }
}
