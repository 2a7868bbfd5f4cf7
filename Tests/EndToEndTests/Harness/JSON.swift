import Foundation

/// A JSON answer of the command line, read by key and index; a missing member throws with the whole text.
struct JSON: @unchecked Sendable, CustomStringConvertible {
    // Only property list types made by JSONSerialization: immutable once decoded.
    private let value: Any
    private let text: String

    init(_ text: String) throws {
        do {
            value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        } catch {
            throw Trouble("not JSON: \(text)")
        }
        self.text = text
    }

    private init(value: Any, text: String) {
        self.value = value
        self.text = text
    }

    var description: String { text }

    func callAsFunction(_ key: String) throws -> JSON {
        guard let member = (value as? [String: Any])?[key] else { throw Trouble("no \(key) in \(text)") }
        return JSON(value: member, text: text)
    }

    func has(_ key: String) -> Bool { (value as? [String: Any])?[key] != nil }

    var array: [JSON] {
        get throws {
            guard let items = value as? [Any] else { throw Trouble("not an array: \(text)") }
            return items.map { JSON(value: $0, text: text) }
        }
    }

    var double: Double {
        get throws {
            guard let number = value as? NSNumber else { throw Trouble("not a number: \(value) in \(text)") }
            return number.doubleValue
        }
    }

    var int: Int {
        get throws {
            guard let number = value as? NSNumber else { throw Trouble("not a number: \(value) in \(text)") }
            return number.intValue
        }
    }

    var bool: Bool {
        get throws {
            guard let number = value as? NSNumber else { throw Trouble("not a boolean: \(value) in \(text)") }
            return number.boolValue
        }
    }

    var string: String {
        get throws {
            guard let string = value as? String else { throw Trouble("not a string: \(value) in \(text)") }
            return string
        }
    }

    /// The answer for one path: commands that take several print an array, those that took one may print the object itself.
    var only: JSON {
        get throws {
            guard let items = value as? [Any] else { return self }
            guard items.count == 1, let item = items.first else { throw Trouble("not one element: \(text)") }
            return JSON(value: item, text: text)
        }
    }
}
