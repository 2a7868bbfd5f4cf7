package import QuireCore

/// The argument of `quire find`.
package enum FindExpression {
    /// Whether the argument is a pattern for the name or a condition, which has an operator in it.
    package static func split(
        _ expression: String?, name: String?
    ) throws(QuireError) -> (pattern: String?, condition: String?) {
        guard let expression, !expression.allSatisfy(\.isWhitespace) else { return (name, nil) }
        if expression.contains(where: { "=<>!&|(".contains($0) }) { return (name, expression) }
        guard name == nil else { throw QuireError(.usage, "two patterns for the name", remedy: "Give one") }
        return (expression, nil)
    }

    /// The pattern as messages carry it: what is not UTF-8 in it is replaced.
    package static func wire(_ pattern: String) -> String {
        String(decoding: ArgumentBytes.bytes(pattern), as: UTF8.self)
    }
}
