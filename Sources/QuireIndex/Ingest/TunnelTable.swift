import QuireCore

/// Identities of names that were freed lately, for the next file created there (design: "Safe-save").
///
/// At most `capacity` are kept: past that the oldest is forgotten, which costs an item its id and nothing else.
struct TunnelTable {
    struct Place: Hashable {
        var parent: Int64
        var name: [UInt8]
    }

    struct Identity {
        var id: Int64
        var kind: FileKind
        var isPinned: Bool
        var tags: String
        var created: Int64
        fileprivate var expires: Int64
        fileprivate var serial: UInt64
    }

    /// How long a freed name keeps its identity.
    static let lifetimeNanoseconds: Int64 = 15_000_000_000
    private static let capacity = 2048

    private var identities: [Place: Identity] = [:]
    private var order: [(place: Place, serial: UInt64)] = []
    private var nextSerial: UInt64 = 0

    /// The name of `row` was freed at `now`.
    mutating func free(_ row: ItemRow, now: Int64) {
        let place = Place(parent: row.parent, name: row.name)
        nextSerial += 1
        identities[place] = Identity(
            id: row.id, kind: row.local.kind, isPinned: row.isPinned, tags: row.tags, created: row.created,
            expires: now + Self.lifetimeNanoseconds, serial: nextSerial)
        order.append((place, nextSerial))
        if order.count > Self.capacity { forgetOldest() }
    }

    /// The identity that waits at this place, which is then no longer free.
    mutating func take(parent: Int64, name: [UInt8], kind: FileKind, now: Int64) -> Identity? {
        guard !identities.isEmpty, let identity = identities.removeValue(forKey: Place(parent: parent, name: name)),
            identity.kind == kind, now < identity.expires
        else { return nil }
        return identity
    }

    private mutating func forgetOldest() {
        for (place, serial) in order.prefix(Self.capacity / 2) where identities[place]?.serial == serial {
            identities[place] = nil
        }
        order.removeFirst(Self.capacity / 2)
    }
}
