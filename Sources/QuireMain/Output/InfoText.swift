import QuireCore

/// An item's metadata as `key = value` lines.
enum InfoText {
    /// - Parameter attributes: those to tell.
    static func lines(_ info: ItemInfo, _ attributes: [InfoAttribute], mountpoint: String?) -> String {
        let width = attributes.reduce(0) { max($0, $1.name.count) } + 1
        return attributes.map { "\($0.name.padded(to: width))= \($0.value(info, mountpoint).text)" }
            .joined(separator: "\n")
    }
}

/// An item's metadata as one object: all of it, with Apple's names below `attributes`, or some attributes by their names.
struct InfoJSON: Encodable {
    let info: ItemInfo
    /// Nil for all.
    let attributes: [InfoAttribute]?
    let mountpoint: String?

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        if let attributes {
            try members.encode(info.status.path, forKey: Key("path"))
            return try encode(attributes, in: &members)
        }
        try info.encode(to: encoder)
        var apple = members.nestedContainer(keyedBy: Key.self, forKey: Key("attributes"))
        try encode(InfoAttribute.apple, in: &apple)
    }

    private func encode(_ attributes: [InfoAttribute], in container: inout KeyedEncodingContainer<Key>) throws {
        for attribute in attributes {
            try container.encode(attribute.value(info, mountpoint), forKey: Key(attribute.name))
        }
    }
}
