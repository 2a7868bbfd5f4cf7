/// Where a provider's change feed was read up to; opaque.
public struct ChangeCursor: Sendable, Hashable, Codable {
    /// As the provider gave it.
    public var rawValue: String
    /// Takes what a provider gave.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// An answer to "what changed since". What cannot be told although the rest can, is among the items as `RemoteItem.unseen`.
public enum RemoteChanges: Sendable {
    /// Nothing changed.
    case none(next: ChangeCursor?)
    /// Everything the provider has, in any order, parents included. What is not in it, nor in a place that is
    /// unseen, is not at the provider.
    case everything([RemoteItem], next: ChangeCursor?)
    /// Only what changed: the present state of changed items, and paths where nothing is any more, nor below them. A
    /// directory that is in both has nothing in it but what is told.
    case changes([RemoteItem], removed: [RelativePath], next: ChangeCursor?)
}
