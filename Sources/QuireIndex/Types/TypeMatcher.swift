import GRDB
import GRDBSQLite
import QuireCore

extension ContentType {
    /// What a query sees of a type; nil for any other attribute, and for a type that nobody has a name for.
    func values(of attribute: QueryAttribute) -> [[UInt8]]? {
        switch attribute {
        case .contentType: [Array(identifier.utf8)]
        case .contentTypeTree: TypeCatalog.system.tree(self).map { Array($0.identifier.utf8) }
        case .typeName: localizedDescription.map { [Array($0.utf8)] }
        default: nil
        }
    }
}

/// A comparison of types that SQL calls by a function of its own: `quire_type(identifier, attribute, pattern, comparison)` is 1
/// or 0. It is called for each type that some item has, not for each item.
enum TypeMatcher {
    static let function = "quire_type"

    /// The condition for items whose type has a row of `types`.
    static func condition(
        _ attribute: QueryAttribute, _ pattern: TextPattern, _ comparison: QueryComparison
    ) -> QueryCondition {
        QueryCondition(
            sql: "(i.type IN (SELECT id FROM types WHERE \(function)(identifier, ?, ?, ?)))",
            values: [.text(attribute.rawValue), .text(TextMatcher.text(pattern).encoded), .text(comparison.rawValue)],
            isSelective: true)
    }

    /// Makes the function known to a connection.
    static func register(_ db: Database) throws {
        try SQLFunction.register(function, 4, in: db, isPure: true, callback)
    }

    private static let callback: SQLFunction.Body = { context, count, values in
        guard count == 4, let values, let type = ContentType(SQLFunction.text(values[0])),
            let attribute = QueryAttribute(rawValue: SQLFunction.text(values[1])),
            case .text(let pattern) = TextMatcher(encoded: SQLFunction.text(values[2])),
            let comparison = QueryComparison(rawValue: SQLFunction.text(values[3]))
        else { return sqlite3_result_int(context, 0) }
        let found = type.values(of: attribute).map { QueryValue.text($0) }
        sqlite3_result_int(context, comparison.holds(found, .text(pattern)) ? 1 : 0)
    }
}
