/// A provider's word for one version of an item: an opaque string, compared whole, meaningful to that provider only.
///
/// Equal versions mean equal content. A change of attributes alone may or may not change it (the provider says what it
/// returned after each call; callers keep that).
public struct ProviderVersion: Hashable, Sendable, Codable, CustomStringConvertible {
    /// As the provider gave it.
    public let rawValue: String

    /// Takes what a provider gave, or reads it back.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// As the provider gave it.
    public var description: String { rawValue }

    /// Takes what a provider gave, or reads it back.
    public init(from decoder: any Decoder) throws {
        self.rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    /// Written as a plain string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
