import QuireCore

/// The second that a document was changed in, where versions are made of size and second.
///
/// Until it is over, other content can come with the same version, which is then taken for the old one for ever:
/// ```
///  second     1                      2
///  content    X ── Y                 Z
///  version    1-4  1-4               2-4      who has read X never hears of Y
/// ```
/// So nothing is written in a document's place before that, and what was read before is read again. A MOVE keeps the time: of
/// two documents of one size and second that swap names it is not known which is which.
enum DAVSecond {
    /// A second, and what clocks of one server lie apart.
    static let length = Duration.milliseconds(1100)

    /// How long it lasts at most; nil where it is over.
    ///
    /// - Parameters:
    ///   - modified: when the document was changed.
    ///   - told: when the server said so, by its own clock. Where either is not known, it is taken for just begun.
    static func rest(_ modified: FileTime?, told: FileTime?) -> Duration? {
        guard let modified, let told else { return length }
        // Servers read the clock of their dates now and then, and may be a second behind; what is further ahead was set.
        let ahead = modified.seconds - told.seconds
        return (0...1).contains(ahead) ? length + .seconds(ahead) : nil
    }
}

extension WebDAVProvider {
    /// Waits until the second is over that a document was changed in, where versions are made of that: what is written in its
    /// place has another one then. Directories have no versions.
    ///
    /// - Returns: whether it has waited, and another look is due.
    func outlast(_ found: DAVFinding?) async throws(ProviderError) -> Bool {
        guard abilities.isTimeBased, let found, found.item.kind == .file,
            let rest = DAVSecond.rest(found.modified, told: found.told)
        else { return false }
        try await client.clock.pause(rest)
        return true
    }

    /// As `HTTPTransport.receive`, for content. What comes within the second of its version is given up at its head, and asked for
    /// once more when that is over: other content may have come with the version since. An answer without dates is believed.
    func receive(
        _ request: HTTPRequest, head: (HTTPAnswer) throws(ProviderError) -> Void = { (_) throws(ProviderError) in },
        each: (BodyPiece) async throws(ProviderError) -> Void
    ) async throws(ProviderError) -> HTTPAnswer {
        var rest: Duration?
        do throws(ProviderError) {
            return try await client.transport.receive(
                request,
                head: { (answer) throws(ProviderError) in
                    if abilities.isTimeBased, let told = answer.date, let modified = answer.lastModified {
                        rest = DAVSecond.rest(modified, told: told)
                    }
                    guard rest == nil else { throw ProviderError(.conditionFailed, "other content may come as this") }
                    try head(answer)
                }, each: each)
        } catch {
            guard let rest else { throw error }
            try await client.clock.pause(rest)
        }
        return try await client.transport.receive(request, head: head, each: each)
    }
}
