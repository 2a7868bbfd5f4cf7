package import QuireCore

/// The plain forms of `quire find`, read without a general parser:
///
///     find [PATTERN|CONDITION] [-name GLOB] [--count] [--limit N] [-0] [--home DIR]
///
/// What is not certainly one of them is left to the whole program: other options, an option given twice, a value that could be
/// taken for an option, and mistakes.
package struct QuickFind: Sendable, Equatable {
    /// A pattern for the name, or a condition.
    package private(set) var expression: String?
    /// A pattern for the name.
    package private(set) var name: String?
    /// Print how many there are.
    package private(set) var isCount = false
    /// At most so many.
    package private(set) var limit: Int?
    /// End each path with NUL.
    package private(set) var endsWithNull = false
    /// The drive's home.
    package private(set) var home: String?

    /// Nil where the whole program is to decide.
    ///
    /// - Parameter arguments: of the process, as `ArgumentBytes` makes text of them, without its name.
    package init?(_ arguments: [String]) {
        guard arguments.first == "find" else { return nil }
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            switch argument {
            case "--count", "-count":
                guard !isCount else { return nil }
                isCount = true
            case "-0":
                guard !endsWithNull else { return nil }
                endsWithNull = true
            case "--name", "-name": guard Self.take(&name, from: &rest) else { return nil }
            case "--home": guard Self.take(&home, from: &rest) else { return nil }
            case "--limit":
                var text: String?
                guard limit == nil, Self.take(&text, from: &rest), let number = text.flatMap(Self.number) else {
                    return nil
                }
                limit = number
            default:
                // The parser has a command of that name everywhere.
                guard expression == nil, Self.isPlain(argument), argument != "help" else { return nil }
                expression = argument
            }
        }
    }

    private static func take(_ value: inout String?, from rest: inout ArraySlice<String>) -> Bool {
        guard value == nil, let next = rest.popFirst(), isPlain(next) else { return false }
        value = next
        return true
    }

    private static func isPlain(_ argument: String) -> Bool { !argument.isEmpty && !argument.utf8.starts(with: [0x2D]) }

    /// Digits, without a sign.
    private static func number(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), number > 0 else {
            return nil
        }
        return number
    }

    /// What the daemon is asked.
    ///
    /// - Throws: `.usage` where the arguments say two things.
    package func parameters() throws(QuireError) -> ItemMethods.Find.Parameters {
        let (pattern, condition) = try FindExpression.split(expression, name: name)
        return ItemMethods.Find.Parameters(
            expression: condition, name: pattern.map(FindExpression.wire), countOnly: isCount, limit: limit)
    }
}
