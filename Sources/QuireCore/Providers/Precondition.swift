/// What must hold at the provider for a write to happen (design, rule 5).
public enum Precondition: Sendable, Hashable {
    /// Nothing is at that path.
    case absent
    /// The item at that path has this version.
    case version(ProviderVersion)
}
