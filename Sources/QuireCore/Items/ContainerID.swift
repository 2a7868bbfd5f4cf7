/// The id of a container: reverse DNS as `iCloud.com.example.Notes`, or `default` for the drive's root.
public struct ContainerID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The container that is the drive's root itself.
    public static let `default` = ContainerID(unchecked: "default")

    /// As written in the configuration.
    public let rawValue: String

    /// Letters, digits, `-`, `_` and dots between them; at most 200 bytes. Nil for anything else.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (1...200).contains(bytes.count) else { return nil }
        // A dot stands between others than dots.
        var isBeginning = true
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: isBeginning = false
            case 0x2E where !isBeginning: isBeginning = true
            default: return nil
            }
        }
        guard !isBeginning else { return nil }
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
