/// A condition in SQL on `items i` with its base `b` and what is parked `k`, and the values that it is bound to.
///
/// It holds for every item that fulfils what it was made from; where it is exact, for no other.
struct QueryCondition {
    var sql: String
    var values: [SQLValue] = []
    var isExact = true
    /// An index of the database finds what fulfils it.
    var isSelective = false
    /// Few conditions are made of the same SQL, so statements with it are worth keeping.
    var isCommon = false

    static let always = QueryCondition(sql: "1")
    static let never = QueryCondition(sql: "0", isSelective: true)
    /// Nothing is known of which items fulfil it.
    static let unknown = QueryCondition(sql: "1", isExact: false)

    static func all(_ parts: [QueryCondition]) -> QueryCondition {
        parts.isEmpty ? .always : joined(parts, " AND ", isSelective: parts.contains(where: \.isSelective))
    }

    static func any(_ parts: [QueryCondition]) -> QueryCondition {
        parts.isEmpty ? .never : joined(parts, " OR ", isSelective: parts.allSatisfy(\.isSelective))
    }

    private static func joined(_ parts: [QueryCondition], _ operation: String, isSelective: Bool) -> QueryCondition {
        // Most queries.
        if parts.count == 1 { return parts[0] }
        return QueryCondition(
            sql: "(" + parts.map(\.sql).joined(separator: operation) + ")", values: parts.flatMap(\.values),
            isExact: parts.allSatisfy(\.isExact), isSelective: isSelective)
    }

    /// What does not fulfil it; nothing is known of that where it is not exact.
    var negated: QueryCondition {
        isExact ? QueryCondition(sql: "NOT " + sql, values: values) : .unknown
    }
}
