import QuireCore

/// What WebDAV servers say of a refusal: sabre's message, or the text of the answer.
final class DAVWords: XMLReceiver {
    private var isError = false
    private var message: String?

    /// The server's words; nil where there are none.
    static func explain(_ answer: HTTPAnswer) -> String? {
        guard answer.fields["Content-Type"]?.contains("xml") ?? false else { return ServerWords.plain(answer) }
        let words = DAVWords()
        do throws(ProviderError) {
            let reader = try XMLReader(words)
            try reader.read(answer.body)
            try reader.finish()
        } catch {
            return ServerWords.plain(answer)
        }
        return words.isError ? words.message.flatMap(ServerWords.shortened) : ServerWords.plain(answer)
    }

    func begin(space: String, name: String) { isError = isError || (space == "DAV:" && name == "error") }

    func end(space: String, name: String, text: String) {
        if isError, name == "message" || name == "responsedescription", message == nil { message = text }
    }
}
