import QuireCore

/// Finds the conditions that a refusal names (RFC 4918 §16). Servers disagree about the status; the element says what is
/// meant.
final class DAVPrecondition: XMLReceiver {
    /// The token is not known any more (RFC 6578 §3.2).
    static let validSyncToken = "valid-sync-token"
    /// There is more to tell than the server wants to (RFC 6578 §3.6).
    static let matchesWithinLimits = "number-of-matches-within-limits"

    private var open: [String] = []
    private var found: Set<String> = []

    /// The names of the DAV elements in the `error` that an answer carries; none where it carries no whole one.
    static func names(_ answer: HTTPAnswer) -> Set<String> {
        let receiver = DAVPrecondition()
        do throws(ProviderError) {
            let reader = try XMLReader(receiver)
            try reader.read(answer.body)
            try reader.finish()
        } catch {
            return []
        }
        return receiver.found
    }

    func begin(space: String, name: String) { open.append(space == "DAV:" ? name : "") }

    func end(space: String, name: String, text: String) {
        if open.count == 2, open.first == "error", let name = open.last { found.insert(name) }
        open.removeLast()
    }
}
