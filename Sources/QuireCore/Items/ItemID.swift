/// The persistent identity of an item on this drive: survives rename, and an editor's safe-save.
///
/// A positive 63-bit number: the upper half is drawn at random when an index is made, the lower half counts; so a
/// rebuilt index never hands out an id that an older one used. Shown as 16 hexadecimal digits.
public struct ItemID: Hashable, Sendable, Comparable {
    /// Greater than 0.
    public let rawValue: Int64

    /// - Parameter rawValue: greater than 0.
    public init(_ rawValue: Int64) {
        precondition(rawValue > 0, "an item id is positive")
        self.rawValue = rawValue
    }

    /// Reads 16 hexadecimal digits.
    public init?(_ text: String) {
        guard text.utf8.count == 16, text.first != "+", let value = Int64(text, radix: 16), value > 0 else {
            return nil
        }
        self.rawValue = value
    }

    /// By number: older ids of one index first.
    public static func < (left: ItemID, right: ItemID) -> Bool { left.rawValue < right.rawValue }
}

extension ItemID: CustomStringConvertible {
    /// 16 hexadecimal digits.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ItemID: Codable {
    /// Reads 16 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = ItemID(text) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "not an item id (16 hexadecimal digits): \(text)")
            )
        }
        self = id
    }

    /// Written as 16 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
