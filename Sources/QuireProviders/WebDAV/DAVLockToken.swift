import QuireCore

/// Finds the token in the answer to a LOCK: the field (RFC 4918 §10.5), else the lock's own words in the body.
final class DAVLockToken: XMLReceiver {
    private var open: [String] = []
    private var found: String?

    static func read(_ answer: HTTPAnswer) -> String? {
        if let field = answer.fields["Lock-Token"] {
            return field.trimmed.hasPrefix("<") ? String(field.trimmed.dropFirst().prefix { $0 != ">" }) : field.trimmed
        }
        let receiver = DAVLockToken()
        do throws(ProviderError) {
            let reader = try XMLReader(receiver)
            try reader.read(answer.body)
            try reader.finish()
        } catch {
            return nil
        }
        return receiver.found
    }

    func begin(space: String, name: String) { open.append(space == "DAV:" ? name : "") }

    func end(space: String, name: String, text: String) {
        if open.suffix(2) == ["locktoken", "href"] { found = text.trimmed }
        open.removeLast()
    }
}
