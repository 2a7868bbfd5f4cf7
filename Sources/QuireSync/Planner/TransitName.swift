import QuireCore

/// Names for items on their way from one place to another, where two are in each other's way.
///
/// At the provider the next push goes on from there; here the next pull does. Nobody takes such a name for the user's choice.
enum TransitName {
    private static let prefix = Array(".quire-moving-".utf8)

    /// A name that nothing has yet.
    static func make() -> FileName {
        FileName(unchecked: prefix + Array(String(UInt64.random(in: 0 ... .max), radix: 36).utf8))
    }

    /// Whether `name` is one.
    static func matches(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }
}

extension LocalEntry {
    /// As `LocalState.isInTransit`.
    var isInTransit: Bool { path.name.map(TransitName.matches) ?? false }
}
