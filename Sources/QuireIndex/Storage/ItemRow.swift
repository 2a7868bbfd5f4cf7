import GRDB
import QuireCore

/// A row of `items`, with what of its base and its parent decides whether it is pending.
struct ItemRow {
    enum Role: Int64 {
        case entry = 0
        /// The root directory of a container other than the default one.
        case containerRoot = 1
        case driveRoot = 2
    }

    /// The columns of a base that are compared.
    struct Base {
        var id: Int64
        var container: String
        var parent: Int64
        var name: [UInt8]
        var kind: FileKind
        var mtime: FileTime
        var mode: UInt16?
        /// As in `tags` of the item; nil where the provider keeps none.
        var tags: String?
    }

    var id: Int64
    var parent: Int64
    var name: [UInt8]
    var local: LocalRecord
    var container: String
    var role = Role.entry
    var isLocalOnly = false
    var writersOpen = false
    var base: Base?
    /// The fingerprint of the state that the provider acknowledged.
    var acknowledged: Fingerprint?
    var isPinned = false
    var tags = ""
    var since: Int64
    var pending: Int64 = 0
    /// The base that the parent directory stands for: 0 below a container's root, nil when the provider has no such
    /// directory.
    var parentBase: Int64?
    /// The id of a row of `types`, or a `TypeCode`; 0 before it was derived.
    var type: Int64 = 0
    /// When the item came to be, when it came to its directory, and when its content last became another, in nanoseconds since
    /// 1970. The last differs from content to content.
    var created: Int64 = 0
    var added: Int64 = 0
    var generation: Int64 = 0
    /// What `type` was derived of; nil for a row that was not read.
    var typed: Typed?

    /// What children of this directory have as their base's parent when they are where the provider has them.
    var childrenBase: Int64? { role == .entry ? base?.id : 0 }

    /// Whether nothing was written since the provider acknowledged it, as far as the fingerprint tells.
    var hasAcknowledgedContent: Bool { acknowledged == local.fingerprint && !writersOpen }

    /// Whether this is what editors rename over documents: an ephemeral name, or never uploaded.
    var isTemporary: Bool { local.kind == .file && !local.isDataless && (isLocalOnly || base == nil) }

    /// Whether its content goes to the provider from where it is.
    var goesUp: Bool { role == .entry && !isLocalOnly && !local.isDataless }

    /// Whether the base is at the same place.
    var isAtBasePlace: Bool {
        guard let base else { return false }
        return base.container == container && base.parent == parentBase && base.name == name
    }

    /// What `pending` has to be.
    var difference: LocalDifference {
        if role != .entry { return [] }
        // Of a placeholder the provider has the only content, whatever its name.
        if isLocalOnly { return base == nil || local.isDataless ? [] : .deleted }
        guard let base else { return .created }
        var result: LocalDifference = isAtBasePlace ? [] : .moved
        // A placeholder has no content that could differ.
        if local.kind == .directory {
            // Made anew: whether the provider still has the one before is to be seen.
            if acknowledged?.inode != local.inode { result.insert(.content) }
        } else if !local.isDataless, !hasAcknowledgedContent {
            result.insert(.content)
        }
        let modeDiffers = local.kind != .symlink && base.mode.map { $0 != local.mode & 0o777 } ?? false
        let tagsDiffer = base.tags.map { $0 != tags } ?? false
        if modeDiffers || tagsDiffer || (local.kind != .directory && base.mtime != local.mtime) {
            result.insert(.metadata)
        }
        return result
    }
}

extension ItemRow {
    static let columns = """
        i.id, i.parent, i.name, i.kind, i.inode, i.size, i.mtime, i.ctime, i.mode, i.nlink, i.container, i.role, \
        i.dataless, i.local_only, i.writers, i.ack_inode, i.ack_size, i.ack_mtime, i.ack_ctime, i.pinned, i.tags, \
        i.since, i.pending, b.id, b.container, b.parent, b.name, b.kind, b.mtime, b.mode, p.base, p.role, \
        i.type, i.created, i.added, i.generation, b.tags
        """
    /// How many columns that is.
    static let columnCount: Int32 = 37
    static let tables = "items i LEFT JOIN bases b ON b.id = i.base LEFT JOIN items p ON p.id = i.parent"
    private static let select = "SELECT \(columns) FROM \(tables) WHERE "
    static let byID = select + "i.id = ?"
    static let byPlace = select + "i.parent = ? AND i.name = ?"
    static let byInode = select + "i.inode = ? ORDER BY i.id"
    static let byParent = select + "i.parent = ? ORDER BY i.name"
    static let byBase = select + "i.base = ?"

    /// Reads the columns of `ItemRow.columns`.
    init(_ row: SQLRow) {
        let kind = FileKind(code: row.integer(3))
        let local = LocalRecord(
            kind: kind, mode: UInt16(truncatingIfNeeded: row.integer(8)), size: row.integer(5),
            mtime: FileTime(nanoseconds: row.integer(6)), ctime: FileTime(nanoseconds: row.integer(7)),
            inode: UInt64(bitPattern: row.integer(4)), linkCount: UInt64(bitPattern: row.integer(9)),
            isDataless: row.flag(12))
        self.init(
            id: row.integer(0), parent: row.integer(1), name: row.blob(2), local: local, container: row.text(10),
            role: Role(rawValue: row.integer(11)) ?? .entry, isLocalOnly: row.flag(13), writersOpen: row.flag(14),
            isPinned: row.flag(19), tags: row.text(20), since: row.integer(21), pending: row.integer(22))
        if let inode = row.optionalInteger(15) {
            acknowledged = Fingerprint(
                inode: UInt64(bitPattern: inode), size: row.integer(16), mtime: FileTime(nanoseconds: row.integer(17)),
                ctime: FileTime(nanoseconds: row.integer(18)), kind: kind)
        }
        if let base = row.optionalInteger(23) {
            self.base = Base(
                id: base, container: row.text(24), parent: row.integer(25), name: row.blob(26),
                kind: FileKind(code: row.integer(27)), mtime: FileTime(nanoseconds: row.integer(28)),
                mode: row.optionalInteger(29).map { UInt16(truncatingIfNeeded: $0) }, tags: row.optionalText(36))
        }
        parentBase = row.integer(31) == 0 ? row.optionalInteger(30) : 0
        type = row.integer(32)
        created = row.integer(33)
        added = row.integer(34)
        generation = row.integer(35)
        typed = Typed(self)
    }
}

extension FileKind {
    /// As it is stored.
    var code: Int64 {
        switch self {
        case .file: 0
        case .directory: 1
        case .symlink: 2
        case .fifo: 3
        case .socket: 4
        case .characterDevice: 5
        case .blockDevice: 6
        }
    }

    init(code: Int64) { self = Self.byCode.indices.contains(Int(code)) ? Self.byCode[Int(code)] : .file }

    private static let byCode = allCases.sorted { $0.code < $1.code }
}
