/// Names one request, from when it is made until it is released, cancelled or failed.
package struct ClaimID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Unique among the requests of one `ClaimTable` that live at the same time.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    package static func < (left: ClaimID, right: ClaimID) -> Bool { left.rawValue < right.rawValue }

    /// The number, as `quire coordination` shows it.
    package var description: String { "#\(rawValue)" }
}
