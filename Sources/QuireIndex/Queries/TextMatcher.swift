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

    /// Makes the function known to a connection.
    static func register(_ db: Database) throws {
        let code = sqlite3_create_function_v2(
            db.sqliteConnection, function, 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, callback, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// The pattern is read once a statement: SQLite keeps it for an argument that stays the same.
    private static let callback: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void =
        { context, count, values in
            guard count == 3, let values else { return sqlite3_result_int(context, 0) }
            let compiled: CompiledMatch
            if let known = sqlite3_get_auxdata(context, 1) {
                compiled = Unmanaged<CompiledMatch>.fromOpaque(known).takeUnretainedValue()
            } else {
                compiled = CompiledMatch(bytes(values[1]), bytes(values[2]))
                sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(compiled).toOpaque()) { known in
                    if let known { Unmanaged<CompiledMatch>.fromOpaque(known).release() }
                }
            }
            sqlite3_result_int(context, compiled.matches(bytes(values[0])) ? 1 : 0)
        }

    private static func bytes(_ value: OpaquePointer?) -> [UInt8] {
        guard let start = sqlite3_value_blob(value) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }
}

private final class CompiledMatch {
    private let matcher: TextMatcher
    private let comparison: QueryComparison

    init(_ pattern: [UInt8], _ comparison: [UInt8]) {
        matcher = TextMatcher(encoded: String(decoding: pattern, as: UTF8.self))
        self.comparison = QueryComparison(rawValue: String(decoding: comparison, as: UTF8.self)) ?? .equal
    }

    func matches(_ bytes: [UInt8]) -> Bool { matcher.matches(bytes, comparison) }
}
