/// Why a query expression cannot be read.
package struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In characters from the expression's start; the first is 1.
    package let position: Int
    /// What could stand there, in words.
    package let expected: String
    /// What does; nil at the end.
    package let found: String?

    /// `at 6: expected a value, found "&&"`.
    package var description: String {
        "at \(position): expected \(expected), found \(found.map { "\"\($0)\"" } ?? "the end")"
    }
}
