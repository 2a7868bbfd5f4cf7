/// Header fields of a request or an answer, in order. Names are compared without case (RFC 9110 §5.1).
package struct HTTPFields: Sendable, ExpressibleByDictionaryLiteral {
    /// As they are sent or were received; the same name may come several times.
    package private(set) var list: [(name: String, value: String)]

    package init(_ list: [(name: String, value: String)] = []) { self.list = list }

    package init(dictionaryLiteral elements: (String, String)...) {
        list = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first field of that name; setting it replaces all of them, nil removes them.
    package subscript(name: String) -> String? {
        get { list.first { Self.isSame($0.name, name) }?.value }
        set {
            list.removeAll { Self.isSame($0.name, name) }
            if let newValue { list.append((name, newValue)) }
        }
    }

    /// All fields of that name.
    package func values(of name: String) -> [String] { list.filter { Self.isSame($0.name, name) }.map(\.value) }

    /// Whether a field is one of those whose names begin so; without case.
    package static func isName(_ name: String, beginningWith beginning: String) -> Bool {
        name.utf8.count >= beginning.utf8.count
            && zip(name.utf8, beginning.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && isName(one, beginningWith: other)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
