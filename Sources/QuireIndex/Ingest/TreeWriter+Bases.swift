import GRDB
import QuireCore

/// The base tree: rows of `bases`.
extension TreeWriter {
    /// A base row as its links need it.
    struct BasePlace {
        var id: Int64
        var kind: FileKind
        /// A directory that no provider told of, made because something in it was acknowledged.
        var isUnknown: Bool
        var identifier: String?
    }

    func base(_ container: ContainerID, in parent: Int64, _ name: FileName) throws -> BasePlace? {
        try db.first(
            "SELECT id, kind, version = '', identifier FROM bases WHERE container = ? AND parent = ? AND name = ?",
            .text(container.rawValue), .integer(parent), .blob(name.bytes)
        ) {
            BasePlace(
                id: $0.integer(0), kind: FileKind(code: $0.integer(1)), isUnknown: $0.flag(2),
                identifier: $0.optionalText(3))
        }
    }

    /// The base at a path below the container's root.
    func base(_ container: ContainerID, at path: RelativePath) throws -> BasePlace? {
        var parent: Int64 = 0
        var found: BasePlace?
        for name in path.components {
            guard let next = try base(container, in: parent, name) else { return nil }
            parent = next.id
            found = next
        }
        return found
    }

    /// The base that stands for the directory at `path`, 0 for the root. Missing ones are made, of unknown version.
    mutating func baseDirectory(_ container: ContainerID, at path: RelativePath) throws -> Int64 {
        var parent: Int64 = 0
        for name in path.components {
            if let next = try base(container, in: parent, name) {
                parent = next.id
                continue
            }
            let id = try insertBase(container, in: parent, name, .unknownDirectory(container))
            // The local directory there is the same one: what lies in it has not moved.
            if var row = try itemAtBasePlace(container, in: parent, name), row.local.kind == .directory,
                row.base == nil,
                !row.isLocalOnly
            {
                try link(&row, to: id, isNew: false, container, in: parent, name, .unknownDirectory(container))
                row.acknowledged = row.local.fingerprint
                try endWait(for: row.id)
                try update(row)
                try relinkChildren(of: row)
            }
            parent = id
        }
        return parent
    }

    /// The item that lies where a base is.
    func itemAtBasePlace(_ container: ContainerID, in parent: Int64, _ name: FileName) throws -> ItemRow? {
        let directory =
            if parent != 0 {
                try row(withBase: parent)?.id
            } else if container == .default {
                state.root
            } else {
                try db.first("SELECT id FROM items WHERE role = 1 AND container = ?", .text(container.rawValue)) {
                    $0.integer(0)
                }
            }
        return try directory.flatMap { try row(in: $0, name.bytes) }
    }

    /// - Parameter isLinked: some item's row is linked to it next, so that it is no orphan.
    private func insertBase(
        _ container: ContainerID, in parent: Int64, _ name: FileName, _ record: BaseRecord, isLinked: Bool = false
    ) throws -> Int64 {
        try db.run(
            """
            INSERT INTO bases (container, parent, name, kind, version, size, mtime, mode, identifier, checksum, \
            symlink_target, tags, orphan, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .text(container.rawValue), .integer(parent), .blob(name.bytes), .integer(record.kind.code),
            .text(record.version.rawValue), .integer(record.size), .integer(record.mtime.nanoseconds),
            .optional(record.mode.map { Int64($0) }), record.identifier.map { .text($0) } ?? .null,
            record.checksum.map { .blob($0.bytes) } ?? .null, record.symlinkTarget.map { .blob($0) } ?? .null,
            TagList.value(record.tags), .flag(!isLinked && !record.version.rawValue.isEmpty), .integer(now)
        )
        return db.lastInsertedRowID
    }

    private func updateBase(_ id: Int64, _ record: BaseRecord) throws {
        try db.run(
            """
            UPDATE bases SET kind = ?, version = ?, size = ?, mtime = ?, mode = ?, identifier = ?, checksum = ?, \
            symlink_target = ?, tags = COALESCE(?, tags, ?), removal = 0 WHERE id = ?
            """, .integer(record.kind.code), .text(record.version.rawValue), .integer(record.size),
            .integer(record.mtime.nanoseconds), .optional(record.mode.map { Int64($0) }),
            record.identifier.map { .text($0) } ?? .null, record.checksum.map { .blob($0.bytes) } ?? .null,
            record.symlinkTarget.map { .blob($0) } ?? .null, TagList.value(record.toldTags),
            TagList.value(record.tags), .integer(id))
    }

    func counted(_ item: ItemID, _ version: ProviderVersion, _ checksum: ContentChecksum) throws {
        try db.run(
            """
            UPDATE bases SET checksum = ? WHERE id = (SELECT base FROM items WHERE id = ?) AND version = ? \
            AND checksum IS NULL
            """, .blob(checksum.bytes), .integer(item.rawValue), .text(version.rawValue))
    }

    /// Links `row` to the base with this id, whose columns are those of `record`. The row is not written here.
    ///
    /// - Parameter isNew: it was made just now, for this row.
    private mutating func link(
        _ row: inout ItemRow, to id: Int64, isNew: Bool, _ container: ContainerID, in parent: Int64, _ name: FileName,
        _ record: BaseRecord
    ) throws {
        let known = row.base?.id == id ? row.base?.tags : nil
        let tags = record.toldTags.map(TagList.text) ?? known ?? record.tags.map(TagList.text)
        try link(
            &row,
            to: ItemRow.Base(
                id: id, container: container.rawValue, parent: parent, name: name.bytes, kind: record.kind,
                mtime: record.mtime, mode: record.mode, tags: tags), isNew: isNew)
    }

    /// Records what the provider has at `record.path`, and links `row` to it. The root of a container has no base.
    ///
    /// - Parameter movesBase: the row's base goes to the new path (the provider renamed it); otherwise a base that the
    ///   row has at another path stays there, as an orphan: the provider still has it.
    /// - Parameter isNews: it comes from the provider, and tags that are others there are taken; what this device acknowledges
    ///   are its own.
    /// - Parameter place: where the record lies; that of the row itself where it has a base.
    mutating func setBase(
        _ row: inout ItemRow, _ record: BaseRecord, movesBase: Bool, isNews: Bool,
        at place: StoreEvent.Commit.BasePlace = .path
    ) throws {
        if isNews { takeTags(of: record, in: &row) }
        let here = place == .directory ? try childrenBase(of: row.parent) : nil
        guard
            let (parent, name) = try here.flatMap({ parent in record.path.name.map { (parent, $0) } })
                ?? (place == .own ? Self.ownPlace(of: record, row) : nil) ?? basePlace(of: record)
        else { return }
        // The directory may have got a base just now.
        row.parentBase = try here ?? childrenBase(of: row.parent)
        if movesBase, let current = row.base { try moveBase(current.id, record, to: parent, name) }
        // A base that is another kind of thing than the item says nothing of it.
        let isLinked = record.kind == row.local.kind && row.role == .entry
        let (id, isNew) = try upsertBase(record, in: parent, name, for: row.id, isLinked: isLinked)
        if isLinked { try link(&row, to: id, isNew: isNew, record.container, in: parent, name, record) }
    }

    /// Records what the provider has at `record.path`; linked to whatever it was linked to before.
    @discardableResult
    mutating func setBase(_ record: BaseRecord) throws -> Int64? {
        guard let (parent, name) = try basePlace(of: record) else { return nil }
        let id = try upsertBase(record, in: parent, name).id
        if let holder = try row(withBase: id) {
            if holder.difference.rawValue != holder.pending { try update(holder) }
        } else if let before = try itemAtBasePlace(record.container, in: parent, name), before.base == nil {
            var row = before
            try adopt(&row, continues: true)
            if row.base != nil { try updatePlaced(row, before: before) }
        }
        return id
    }

    /// Where the row's base is; nil where it has none that the record can be of.
    private static func ownPlace(of record: BaseRecord, _ row: ItemRow) -> (parent: Int64, name: FileName)? {
        guard let base = row.base, base.container == record.container.rawValue, base.kind == record.kind else {
            return nil
        }
        return (base.parent, FileName(unchecked: base.name))
    }

    private mutating func basePlace(of record: BaseRecord) throws -> (parent: Int64, name: FileName)? {
        guard let name = record.path.name, let directory = record.path.parent else { return nil }
        return (try baseDirectory(record.container, at: directory), name)
    }

    /// - Parameter item: whose base it is to be.
    /// - Parameter isLinked: that is linked to it next.
    private mutating func upsertBase(
        _ record: BaseRecord, in parent: Int64, _ name: FileName, for item: Int64? = nil, isLinked: Bool = false
    ) throws -> (id: Int64, isNew: Bool) {
        guard let known = try base(record.container, in: parent, name) else {
            return (try insertBase(record.container, in: parent, name, record, isLinked: isLinked), true)
        }
        if let item, let before = known.identifier, let now = record.identifier, before != now,
            let holder = try row(withBase: known.id), holder.id != item
        {
            try displaceBase(known.id)
            return (try insertBase(record.container, in: parent, name, record, isLinked: isLinked), true)
        }
        if known.kind == .directory, record.kind != .directory { try removeBases(in: known.id) }
        try updateBase(known.id, record)
        if known.isUnknown, !isLinked, try row(withBase: known.id) == nil { try orphan(known.id) }
        return (known.id, false)
    }

    /// Gives a base another place, with all below it. A base that is there already makes room: the provider has moved or
    /// removed it, and which of both is for the next listing to tell. So does one below it that it is to go into.
    private mutating func moveBase(_ id: Int64, _ record: BaseRecord, to parent: Int64, _ name: FileName) throws {
        guard parent != id else {
            // The directory that it goes into has its name now.
            try displaceBase(id)
            guard let (other, name) = try basePlace(of: record) else { return }
            return try moveBase(id, record, to: other, name)
        }
        if let outer = try base(in: id, above: parent) { try displaceBase(outer) }
        if let other = try base(record.container, in: parent, name), other.id != id {
            if try row(withBase: other.id) == nil { try removeBase(other.id) } else { try displaceBase(other.id) }
        }
        try place(id, record.container, in: parent, name)
    }

    /// Gives a base another place. Uploads into it whose answer is missing went along, if they arrived.
    private func place(_ id: Int64, _ container: ContainerID, in parent: Int64, _ name: FileName) throws {
        var paths = PathBuilder.bases
        let before = try paths.path(id, db)
        try db.run(
            "UPDATE bases SET container = ?, parent = ?, name = ? WHERE id = ?", .text(container.rawValue),
            .integer(parent), .blob(name.bytes), .integer(id))
        paths = .bases
        if let before, let now = try paths.path(id, db) { try moveIntents(container, from: before, to: now) }
    }

    /// What is directly in `directory`, and above `base` or that itself; nil where neither is.
    private func base(in directory: Int64, above base: Int64) throws -> Int64? {
        var current = base
        var passed: Set<Int64> = []
        while current != 0, passed.insert(current).inserted {
            let above = try db.first("SELECT parent FROM bases WHERE id = ?", .integer(current)) { $0.integer(0) }
            if above == directory { return current }
            current = above ?? 0
        }
        return nil
    }

    /// Gives a base, with all below it, a place that nothing has at the provider. The items stay linked: a listing finds the
    /// base's item by its identifier, or nowhere.
    private mutating func displaceBase(_ id: Int64) throws {
        let container = try db.first("SELECT container FROM bases WHERE id = ?", .integer(id)) { $0.text(0) }
        guard let container else { return }
        try place(
            id, ContainerID(unchecked: container), in: 0,
            FileName(unchecked: Array(".quire-displaced-\(id)".utf8)))
        if let holder = try row(withBase: id) { try update(holder) }
    }

    /// What the provider's tags are others in than the base's is done to the item's.
    private func takeTags(of record: BaseRecord, in row: inout ItemRow) {
        guard let there = record.toldTags else { return }
        let before = TagList.names(row.base?.tags ?? "")
        row.tags = TagList.text(TagList.merged(before: before, here: TagList.names(row.tags), there: there))
    }

    /// The same for the item that a base is linked to; before the base is another.
    mutating func takeTags(of record: BaseRecord, intoHolderOf base: Int64) throws {
        guard record.toldTags != nil, let before = try row(withBase: base) else { return }
        var row = before
        takeTags(of: record, in: &row)
        if row.tags != before.tags { try update(row) }
    }

    // MARK: Events

    /// An event: the provider renamed something, or (with the same path) its record is another now.
    ///
    /// A base that is not at `from` any more was moved with its directory, or is gone: it is looked for by way of the
    /// item. Found by neither, it is not made: with no item it would be taken for something that was deleted here.
    mutating func baseMoved(_ container: ContainerID, from: RelativePath, _ record: BaseRecord) throws {
        let known = try base(container, at: from)?.id ?? movedBase(from, record)
        guard let (parent, name) = try basePlace(of: record) else { return }
        guard let known else {
            if let row = try itemAtBasePlace(container, in: parent, name), row.base == nil, !row.isLocalOnly,
                row.local.kind == record.kind
            {
                try setBase(record)
            }
            return
        }
        try takeTags(of: record, intoHolderOf: known)
        try moveBase(known, record, to: parent, name)
        try updateBase(known, record)
        guard let holder = try row(withBase: known) else { return }
        var row = holder
        try settleName(&row)
        try updatePlaced(row, before: holder)
    }

    /// The base at the new path already, or that of the item there, when it has the old name still.
    private mutating func movedBase(_ from: RelativePath, _ record: BaseRecord) throws -> Int64? {
        if let there = try base(record.container, at: record.path) { return there.id }
        guard let (parent, name) = try basePlace(of: record),
            let base = try itemAtBasePlace(record.container, in: parent, name)?.base, base.kind == record.kind,
            base.name == from.name?.bytes
        else { return nil }
        return base.id
    }

    /// An event: the provider has nothing of this any more, nor of anything below it.
    mutating func baseRemoved(_ container: ContainerID, _ path: RelativePath) throws {
        if let known = try base(container, at: path) { try removeBase(known.id) }
        try db.run(
            "DELETE FROM parked WHERE item = 0 AND container = ? AND path = ?", .text(container.rawValue),
            .blob(path.bytes))
    }

    /// Removes all below a base: the provider has something else there than a directory.
    private mutating func removeBases(in directory: Int64) throws {
        for child in try db.all("SELECT id FROM bases WHERE parent = ?", .integer(directory), read: { $0.integer(0) }) {
            try removeBase(child)
        }
    }

    /// Removes a base and all below it; items that were linked are to be created at the provider.
    mutating func removeBase(_ id: Int64) throws {
        try removeBases(in: id)
        if let holder = try row(withBase: id) { try dropBase(of: holder) }
        try db.run("DELETE FROM bases WHERE id = ?", .integer(id))
    }
}

extension BaseRecord {
    fileprivate static func unknownDirectory(_ container: ContainerID) -> BaseRecord {
        BaseRecord(
            container: container, path: .root, kind: .directory, version: ProviderVersion(""), size: 0,
            mtime: FileTime(nanoseconds: 0), mode: nil, identifier: nil, checksum: nil, symlinkTarget: nil)
    }
}
