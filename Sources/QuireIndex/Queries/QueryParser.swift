import QuireCore

/// Reads query expressions. The grammar: Documentation/Queries.md.
package struct QueryParser {
    /// Parentheses and negations inside each other.
    static let deepest = 500

    private var lexer: QueryLexer
    private var token: QueryLexer.Token
    private var depth = 0
    private var wordComparisons = 0
    private let clock: QueryClock

    /// Reads a whole expression.
    ///
    /// - Throws: where it cannot be read, and what could stand there.
    package static func parse(_ text: String, clock: QueryClock = .system) throws(QueryError) -> QueryPredicate {
        var parser = try QueryParser(text, clock)
        let predicate = try parser.alternatives()
        guard parser.token.kind == .end else { throw parser.expected("&&, || or the end") }
        return predicate
    }

    private init(_ text: String, _ clock: QueryClock) throws(QueryError) {
        lexer = QueryLexer(text)
        token = try lexer.next()
        self.clock = clock
    }

    // MARK: Structure

    private mutating func alternatives() throws(QueryError) -> QueryPredicate {
        var parts = [try conjunction()]
        while try take("||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(QueryError) -> QueryPredicate {
        var parts = [try term()]
        while try take("&&") { parts.append(try term()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func term() throws(QueryError) -> QueryPredicate {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw expected("at most \(Self.deepest) parentheses inside each other") }
        if try take("!") { return .not(try term()) }
        guard try take("(") else { return try comparison() }
        let inner = try alternatives()
        try require(")")
        return inner
    }

    private mutating func comparison() throws(QueryError) -> QueryPredicate {
        if case .word(let word) = token.kind, word.lowercased() == "inrange" { return try range() }
        let attribute = try attribute()
        let comparisons = attribute.kind == .words ? [.equal, .notEqual] : QueryComparison.allCases
        guard case .symbol(let symbol) = token.kind, let comparison = QueryComparison(rawValue: symbol),
            comparisons.contains(comparison)
        else {
            throw expected(comparisons.map(\.rawValue).joined(separator: ", "))
        }
        try advance()
        return .compare(attribute, comparison, try operand(attribute))
    }

    /// `InRange(attribute, low, high)`.
    private mutating func range() throws(QueryError) -> QueryPredicate {
        try advance()
        try require("(")
        guard case .word(let word) = token.kind, QueryAttribute(named: word)?.kind != .words else {
            throw expected("an attribute that has an order")
        }
        let attribute = try attribute()
        try require(",")
        let low = try operand(attribute)
        try require(",")
        let high = try operand(attribute)
        try require(")")
        return .range(attribute, low, high)
    }

    private mutating func attribute() throws(QueryError) -> QueryAttribute {
        guard case .word(let word) = token.kind, let attribute = QueryAttribute(named: word) else {
            throw expected("an attribute (\(QueryAttribute.allCases.map(\.rawValue).joined(separator: ", ")))")
        }
        try advance()
        return attribute
    }

    // MARK: Values

    private mutating func operand(_ attribute: QueryAttribute) throws(QueryError) -> QueryOperand {
        switch attribute.kind {
        case .text: return .text(try text(attribute))
        case .number: return .number(try value("a number, such as 12, 1.5MB or 2GiB") { QueryNumber.parse($0) })
        case .date: return .date(try date())
        case .flag: return .flag(try value("true or false") { Self.flags[$0.lowercased()] })
        case .words: return .words(try words())
        }
    }

    private static let flags = ["true": true, "yes": true, "1": true, "false": false, "no": false, "0": false]

    /// Words of content: case and marks never count, so that `c`, `d`, and Apple's `w` say nothing new.
    private mutating func words() throws(QueryError) -> WordPattern {
        let (text, modifiers) = try literal()
        guard modifiers.allSatisfy({ "cdw".contains($0) }) else { throw expected("c, d or w after the quotes") }
        guard let pattern = WordPattern(text) else {
            throw expected("words, at most \(WordPattern.mostWords), with * at their beginning and end only")
        }
        wordComparisons += 1
        guard wordComparisons <= QueryCompiler.mostComparisons else {
            throw expected("at most \(QueryCompiler.mostComparisons) comparisons of content")
        }
        try advance()
        return pattern
    }

    /// A text as it is written, and what follows the quotes.
    private func literal() throws(QueryError) -> (text: String, modifiers: String) {
        switch token.kind {
        case .string(let text, let modifiers): return (text, modifiers)
        case .word(let word): return (word, "")
        case .symbol, .end: throw expected("a text in quotes")
        }
    }

    private mutating func text(_ attribute: QueryAttribute) throws(QueryError) -> TextPattern {
        let (text, modifiers) = try literal()
        guard modifiers.allSatisfy({ "cd".contains($0) }) else {
            throw expected("c, d or cd after the quotes")
        }
        if attribute == .state, !text.contains(where: { "*?".contains($0) }), ItemState(rawValue: text) == nil {
            throw expected("a state (\(ItemState.allCases.map(\.rawValue).joined(separator: ", ")))")
        }
        try advance()
        return TextPattern(
            text, ignoresCase: modifiers.contains("c"), ignoresDiacritics: modifiers.contains("d"))
    }

    /// `2026-01-31`, `2026-01-31T08:05:09Z`, `$time.now(-3600)`, `$time.today(-7)`, `$time.iso(…)`.
    private mutating func date() throws(QueryError) -> FileTime {
        guard case .word(let word) = token.kind, word.hasPrefix("$time.") else {
            return try value(Self.dateForms) { [clock] in clock.date($0) }
        }
        let start = token
        try advance()
        var argument: String?
        if try take("(") {
            if case .symbol(")") = token.kind {} else { argument = try value("a number or a date") { $0 } }
            try require(")")
        }
        guard let date = clock.date(word, argument) else {
            throw QueryError(position: start.position, expected: Self.dateForms, found: start.text)
        }
        return date
    }

    private static let dateForms = "a date: 2026-01-31, 2026-01-31T08:05:09Z, $time.now(-3600) or $time.today(-7)"

    /// A word, or a text in quotes, that `read` understands.
    private mutating func value<Value>(
        _ expectation: String, _ read: (String) -> Value?
    ) throws(QueryError) -> Value {
        let text: String
        switch token.kind {
        case .word(let word): text = word
        case .string(let string, ""): text = string
        case .string, .symbol, .end: throw expected(expectation)
        }
        guard let value = read(text) else { throw expected(expectation) }
        try advance()
        return value
    }

    // MARK: Tokens

    private mutating func advance() throws(QueryError) { token = try lexer.next() }

    private mutating func take(_ symbol: String) throws(QueryError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    private mutating func require(_ symbol: String) throws(QueryError) {
        guard try take(symbol) else { throw expected(symbol) }
    }

    private func expected(_ what: String) -> QueryError {
        QueryError(position: token.position, expected: what, found: token.text)
    }
}
