public import Foundation

/// What a query looks for: an expression as `quire find` takes it, written as text or put together of attributes.
///
/// ```swift
/// query.predicate = "name == \"report*\"c && size > 1MB"
/// query.predicate = .name == "report.txt" && .size > 1_000_000
/// ```
public struct MetadataPredicate: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The expression's text.
    public let expression: String

    /// An expression as text. Whether it can be read is told when the query starts.
    public init(_ expression: String) { self.expression = expression }
    /// An expression as text.
    public init(stringLiteral expression: String) { self.expression = expression }

    /// Both.
    public static func && (left: Self, right: Self) -> Self { Self("(\(left.expression)) && (\(right.expression))") }
    /// One of both, or both.
    public static func || (left: Self, right: Self) -> Self { Self("(\(left.expression)) || (\(right.expression))") }
    /// Everything else.
    public static prefix func ! (one: Self) -> Self { Self("!(\(one.expression))") }

    /// Whether an attribute's text is like a pattern: `*` stands for any run, `?` for one byte.
    public static func matches(
        _ attribute: MetadataAttribute<String>, _ pattern: String, ignoringCase: Bool = false,
        ignoringDiacritics: Bool = false
    ) -> Self {
        let quoted = pattern.replacing("\"", with: "\\\"")
        let flags = (ignoringCase ? "c" : "") + (ignoringDiacritics ? "d" : "")
        return Self("\(attribute.name) == \"\(quoted)\"\(flags)")
    }
}

extension MetadataPredicate {
    /// A pattern that only the text itself matches.
    static func literal(_ text: String) -> String {
        var pattern = ""
        for character in text.unicodeScalars {
            if character == "\\" || character == "*" || character == "?" { pattern += "\\" }
            pattern.unicodeScalars.append(character)
        }
        return pattern
    }
}

/// An attribute that a query can ask for, with the type of its values.
public struct MetadataAttribute<Value: Sendable>: Sendable, Hashable {
    /// As in expressions.
    public let name: String

    /// An attribute by its name in expressions.
    public init(_ name: String) { self.name = name }

    private func compared(_ comparison: String, _ value: String) -> MetadataPredicate {
        MetadataPredicate("\(name) \(comparison) \(value)")
    }
}

extension MetadataAttribute where Value == String {
    /// Of the item itself.
    public static var name: Self { Self("name") }
    /// Below the drive's root.
    public static var path: Self { Self("path") }
    /// One of the item's tags.
    public static var tag: Self { Self("tags") }
    /// A uniform type identifier.
    public static var contentType: Self { Self("kMDItemContentType") }
    /// One of the types that the item's type conforms to.
    public static var contentTypeTree: Self { Self("kMDItemContentTypeTree") }

    /// Equal to a text, in which nothing stands for anything else.
    public static func == (attribute: Self, text: String) -> MetadataPredicate {
        attribute.compared("==", quoted(text))
    }
    /// Another than a text.
    public static func != (attribute: Self, text: String) -> MetadataPredicate {
        attribute.compared("!=", quoted(text))
    }

    private static func quoted(_ text: String) -> String {
        "\"" + MetadataPredicate.literal(text).replacing("\"", with: "\\\"") + "\""
    }
}

extension MetadataAttribute where Value == Int64 {
    /// In bytes.
    public static var size: Self { Self("size") }

    /// Equal to a number.
    public static func == (attribute: Self, number: Int64) -> MetadataPredicate {
        attribute.compared("==", "\(number)")
    }
    /// Less than a number.
    public static func < (attribute: Self, number: Int64) -> MetadataPredicate { attribute.compared("<", "\(number)") }
    /// More than a number.
    public static func > (attribute: Self, number: Int64) -> MetadataPredicate { attribute.compared(">", "\(number)") }
}

extension MetadataAttribute where Value == Date {
    /// When content last changed.
    public static var contentModificationDate: Self { Self("modified") }

    /// Before a moment.
    public static func < (attribute: Self, date: Date) -> MetadataPredicate { attribute.compared("<", text(date)) }
    /// After a moment.
    public static func > (attribute: Self, date: Date) -> MetadataPredicate { attribute.compared(">", text(date)) }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}

extension MetadataAttribute where Value == Bool {
    /// Something waits for upload.
    public static var isDirty: Self { Self("dirty") }
    /// The provider has all of it.
    public static var isUploaded: Self { Self("uploaded") }
    /// Only its attributes are here.
    public static var isDataless: Self { Self("dataless") }
    /// It is a conflict copy, or has one beside it.
    public static var hasConflicts: Self { Self("hasConflicts") }

    /// Whether it is so.
    public static func == (attribute: Self, flag: Bool) -> MetadataPredicate { attribute.compared("==", "\(flag)") }
}
