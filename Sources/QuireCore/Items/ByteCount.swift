/// A number of bytes, never negative.
public struct ByteCount: Hashable, Sendable, Comparable, Codable {
    /// 0 or more.
    public let bytes: Int64

    /// - Parameter bytes: 0 or more.
    public init(_ bytes: Int64) {
        precondition(bytes >= 0, "a byte count is not negative")
        self.bytes = bytes
    }

    /// No bytes.
    public static let zero = ByteCount(0)

    /// Fewer before more.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
    /// The sum.
    public static func + (left: ByteCount, right: ByteCount) -> ByteCount { ByteCount(left.bytes + right.bytes) }

    /// Reads a number; fails for a negative one.
    public init(from decoder: any Decoder) throws {
        let bytes = try decoder.singleValueContainer().decode(Int64.self)
        guard bytes >= 0 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a byte count is not negative: \(bytes)"))
        }
        self.bytes = bytes
    }

    /// Written as a plain number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

extension ByteCount: CustomStringConvertible {
    /// `17 B`, `4.2 kB`, `1.5 GB`: powers of 1,000, one decimal below ten of a unit.
    public var description: String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var tenths = bytes / 100
        var unit = 0
        while tenths >= 10_000, unit < 4 {
            tenths /= 1000
            unit += 1
        }
        let text = tenths < 100 ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)"
        return "\(text) \(["kB", "MB", "GB", "TB", "PB"][unit])"
    }
}
