/// A connected party whose claims go when it goes.
package struct ClientID: Hashable, Sendable {
    /// Unique among the clients of one daemon.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
