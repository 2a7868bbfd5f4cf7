/// Which differences between names a provider does not see: two names that differ in nothing else are one place there.
public struct NameFolding: OptionSet, Sendable, Hashable, Codable {
    /// One bit for each difference.
    public let rawValue: Int

    /// Takes the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Upper and lower case: `README` and `Readme`.
    public static let letterCase = NameFolding(rawValue: 1)
    /// Composed and decomposed characters (Unicode normalisation): é as one code point and as two.
    public static let normalization = NameFolding(rawValue: 2)
}
