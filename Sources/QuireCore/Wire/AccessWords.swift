/// A coordinated access in the words of the socket: `read withoutChanges`, `write forDeleting`.
///
/// The one table of the options' words. Their order gives the bits, which are those of NSFileCoordinator.ReadingOptions and
/// NSFileCoordinator.WritingOptions.
package struct AccessWords: Sendable, Hashable {
    /// What the access is for.
    package enum Kind: String, Sendable { case read, write }

    /// The options of a read, from bit 1 on.
    package static let readings = [
        "withoutChanges", "resolvesSymbolicLink", "immediatelyAvailableMetadataOnly", "forUploading",
    ]
    /// The options of a write, from bit 1 on. One at most is used.
    package static let writings = [
        "forDeleting", "forMoving", "forMerging", "forReplacing", "contentIndependentMetadataOnly",
    ]

    package let kind: Kind
    /// The options, as Foundation's bits.
    package let bits: UInt

    package init(_ kind: Kind, bits: UInt) {
        self.kind = kind
        self.bits = bits
    }

    /// Reads words; nil for any that are none, and for one that is there twice.
    package init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let kind = words.first.flatMap(Kind.init(rawValue:)) else { return nil }
        var bits: UInt = 0
        for word in words.dropFirst() {
            guard let index = Self.options(of: kind).firstIndex(of: word), bits & (1 << index) == 0 else { return nil }
            bits |= 1 << index
        }
        self.init(kind, bits: bits)
    }

    /// The words; bits that have none are left out.
    package var text: String {
        let options = Self.options(of: kind).enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
        return ([kind.rawValue] + options).joined(separator: " ")
    }

    private static func options(of kind: Kind) -> [String] { kind == .read ? readings : writings }
}
