/// The id of a container: reverse DNS as `iCloud.com.example.Notes`, or `default` for the drive's root.
public struct ContainerID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The container that is the drive's root itself.
    public static let `default` = ContainerID(unchecked: "default")

    /// As written in the configuration.
    public let rawValue: String

    /// Letters, digits, `-`, `_` and dots between them; at most 200 bytes. Nil for anything else.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 200, text.first != ".", text.last != ".", !text.contains("..") else {
            return nil
        }
        guard
            text.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || [0x2D, 0x2E, 0x5F].contains(byte)
            })
        else { return nil }
        self.rawValue = text
    }

    /// For what was checked before it was stored.
    package init(unchecked text: String) { self.rawValue = text }

    /// As written in the configuration.
    public var description: String { rawValue }

    /// Reads an id; fails for text that is none.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = ContainerID(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a container id: \(text)"))
        }
        self = id
    }

    /// Written as a plain string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
