import QuireCore

/// What `quire find` was asked for: `*.txt`, or `name == "*.txt" && state == dirty`.
struct FindExpression: Equatable {
    private(set) var name: String?
    /// Nil: any.
    private(set) var states: [ItemState]?

    /// - Throws: `.usage`, naming the term that is not understood.
    init(_ text: String) throws(QuireError) {
        for term in Self.split(text) {
            guard let equals = term.firstIndex(of: "=") else {
                try add(name: Self.unquoted(term))
                continue
            }
            let key = Self.trimmed(String(term[..<equals]))
            let value = Self.unquoted(Self.trimmed(String(term[equals...].drop { $0 == "=" })))
            switch key.lowercased() {
            case "name", "fsname", "kmditemfsname": try add(name: value)
            case "state":
                add(states: [try Self.state(value)])
            default:
                throw QuireError(.usage, "\"\(key)\" is not a key that can be searched", remedy: "Use name or state")
            }
        }
    }

    /// The state of that name.
    static func state(_ text: String) throws(QuireError) -> ItemState {
        guard let state = ItemState(rawValue: text) else {
            let known = ItemState.allCases.map(\.rawValue).joined(separator: ", ")
            throw QuireError(.usage, "\"\(text)\" is not a state", remedy: "States are: \(known)")
        }
        return state
    }

    /// Only items whose name matches.
    mutating func add(name: String) throws(QuireError) {
        guard self.name == nil else {
            throw QuireError(.usage, "two patterns for the name", remedy: "Give one")
        }
        self.name = name
    }

    /// Also items in these states.
    mutating func add(states: [ItemState]) {
        if !states.isEmpty { self.states = (self.states ?? []) + states }
    }

    private static func split(_ text: String) -> [String] {
        var terms: [String] = []
        var rest = text[...]
        while let separator = rest.firstRange(of: "&&") {
            terms.append(trimmed(String(rest[..<separator.lowerBound])))
            rest = rest[separator.upperBound...]
        }
        terms.append(trimmed(String(rest)))
        return terms.filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, let first = text.first, first == text.last, "\"'".contains(first) else { return text }
        return String(text.dropFirst().dropLast())
    }
}
