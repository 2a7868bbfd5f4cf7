package import QuireCore

/// A condition on an item's attributes: what a query expression says.
package indirect enum QueryPredicate: Sendable, Hashable {
    case all([QueryPredicate])
    case any([QueryPredicate])
    case not(QueryPredicate)
    case compare(QueryAttribute, QueryComparison, QueryOperand)
    /// Both ends belong to it.
    case range(QueryAttribute, QueryOperand, QueryOperand)
}

package enum QueryComparison: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
}

/// What an attribute is compared with; of the attribute's kind.
package enum QueryOperand: Sendable, Hashable {
    case text(TextPattern)
    case number(Double)
    case date(FileTime)
    case flag(Bool)
    /// Of an attribute that has no value but words.
    case words(WordPattern)
}

/// An attribute's value.
package enum QueryValue: Sendable, Hashable {
    /// Bytes, as names need not be UTF-8; several for tags.
    case text([[UInt8]])
    case number(Double)
    case date(FileTime)
    case flag(Bool)
}

extension QueryPredicate {
    /// Whether an item fulfils it.
    ///
    /// An attribute that an item does not have equals nothing; of several values one that compares is enough. `!=` is true where
    /// `==` is not.
    /// - Parameters:
    ///   - words: the patterns that the words of its content fulfil.
    ///   - value: of an attribute; nil where the item has none.
    package func matches(words: Set<WordPattern> = [], _ value: (QueryAttribute) -> QueryValue?) -> Bool {
        switch self {
        case .all(let parts): parts.allSatisfy { $0.matches(words: words, value) }
        case .any(let parts): parts.contains { $0.matches(words: words, value) }
        case .not(let part): !part.matches(words: words, value)
        case .compare(_, let comparison, .words(let pattern)): (comparison == .equal) == words.contains(pattern)
        case .compare(let attribute, let comparison, let operand): comparison.holds(value(attribute), operand)
        case .range(let attribute, let low, let high):
            QueryComparison.greaterOrEqual.holds(value(attribute), low)
                && QueryComparison.lessOrEqual.holds(value(attribute), high)
        }
    }
}

extension QueryComparison {
    func holds(_ value: QueryValue?, _ operand: QueryOperand) -> Bool {
        if self == .notEqual { return !Self.equal.holds(value, operand) }
        switch (value, operand) {
        case (.text(let texts)?, .text(let pattern)):
            return texts.contains { self == .equal ? pattern.matches($0) : holds(pattern.order(of: $0)) }
        case (.number(let left)?, .number(let right)): return holds(Self.order(left, right))
        case (.date(let left)?, .date(let right)): return holds(Self.order(left, right))
        case (.flag(let left)?, .flag(let right)): return holds(Self.order(left ? 1 : 0, right ? 1 : 0))
        default: return false
        }
    }

    /// - Parameter order: less than, equal to or more than 0, as the value is to the operand.
    private func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }
}
