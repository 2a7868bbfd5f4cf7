import GRDB
import GRDBSQLite
import QuireCore

/// A pattern that SQL calls by a function of its own: `quire_text(value, pattern, comparison)` is 1 or 0.
enum TextMatcher {
    case text(TextPattern)
    case glob(Glob)

    static let function = "quire_text"

    /// As the function's second argument has it: flags, a colon, and the pattern.
    var encoded: String {
        switch self {
        case .glob(let glob): "g:" + glob.pattern
        case .text(let pattern):
            (pattern.ignoresCase ? "c" : "") + (pattern.ignoresDiacritics ? "d" : "") + ":" + pattern.text
        }
    }

    init(encoded: String) {
        let flags = encoded.prefix { $0 != ":" }
        let text = String(encoded.dropFirst(flags.count + 1))
        if flags == "g" {
            self = .glob(Glob(text))
        } else {
            self = .text(
                TextPattern(text, ignoresCase: flags.contains("c"), ignoresDiacritics: flags.contains("d")))
        }
    }

    func matches(_ bytes: [UInt8], _ comparison: QueryComparison) -> Bool {
        switch self {
        case .glob(let glob): glob.matches(bytes)
        case .text(let pattern): comparison.holds(.text([bytes]), .text(pattern))
        }
    }

    fileprivate var quick: QuickMatch? {
        switch self {
        case .glob(let glob): QuickMatch(glob.pattern, hasSets: true)
        case .text(let pattern):
            QuickMatch(
                pattern.text, hasSets: false, ignoresCase: pattern.ignoresCase,
                ignoresDiacritics: pattern.ignoresDiacritics)
        }
    }

    /// Makes the function known to a connection.
    static func register(_ db: Database) throws {
        try SQLFunction.register(function, 3, in: db, isPure: true, callback)
    }

    /// The pattern is read once a statement: SQLite keeps it for an argument that stays the same.
    private static let callback: SQLFunction.Body = { context, count, values in
        guard count == 3, let values else { return sqlite3_result_int(context, 0) }
        let compiled: CompiledMatch
        if let known = sqlite3_get_auxdata(context, 1) {
            compiled = Unmanaged<CompiledMatch>.fromOpaque(known).takeUnretainedValue()
        } else {
            compiled = CompiledMatch(SQLFunction.text(values[1]), SQLFunction.text(values[2]))
            sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(compiled).toOpaque()) { known in
                if let known { Unmanaged<CompiledMatch>.fromOpaque(known).release() }
            }
        }
        sqlite3_result_int(context, SQLFunction.withBytes(values[0]) { compiled.matches($0) } ? 1 : 0)
    }
}

private final class CompiledMatch {
    private let matcher: TextMatcher
    private let comparison: QueryComparison
    private let quick: QuickMatch?

    init(_ pattern: String, _ comparison: String) {
        matcher = TextMatcher(encoded: pattern)
        self.comparison = QueryComparison(rawValue: comparison) ?? .equal
        quick = self.comparison == .equal ? matcher.quick : nil
    }

    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        quick?.decision(bytes) ?? matcher.matches(Array(bytes), comparison)
    }
}
