import GRDB
package import QuireCore

/// What is noted about items beside what the store and the provider say.
extension MetadataIndex {
    /// Notes why something cannot be synced. What was noted before is replaced; its time stays when the message is the
    /// same.
    package func park(_ subject: ParkedSubject, message: String, code: String = "") async throws(IndexError) {
        let now = clock().nanoseconds
        try await write("parking an error") { db in
            let (item, container, path) = subject.key
            try db.run(
                """
                INSERT INTO parked (item, container, path, message, code, since) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET since = CASE WHEN message = excluded.message THEN since ELSE excluded.since END,
                message = excluded.message, code = excluded.code
                """, .integer(item), .text(container), .blob(path), .text(message), .text(code), .integer(now))
        }
    }

    /// Takes back what was noted; nothing happens where nothing was.
    package func unpark(_ subject: ParkedSubject) async throws(IndexError) {
        try await write("clearing an error") { db in
            let (item, container, path) = subject.key
            try db.run(
                "DELETE FROM parked WHERE item = ? AND container = ? AND path = ?", .integer(item), .text(container),
                .blob(path))
        }
    }

    /// All that is parked and still there, by path.
    package func parkedErrors() async throws(IndexError) -> [ParkedEntry] {
        let root = root
        return try await read("parked errors") { db in
            var paths = PathBuilder.items(root: root)
            let rows = try db.all("SELECT item, container, path, message, code, since FROM parked") { row in
                (
                    row.integer(0), row.text(1), RelativePath(unchecked: row.blob(2)),
                    ParkedError(message: row.text(3), code: row.text(4), since: FileTime(nanoseconds: row.integer(5)))
                )
            }
            let entries = try rows.compactMap { item, container, path, error -> ParkedEntry? in
                item == 0
                    ? try Self.parkedBase(ContainerID(container) ?? .default, path, error, &paths, db)
                    : try Self.parkedItem(item, error, &paths, db)
            }
            return entries.sorted { $0.path.bytes.lexicographicallyPrecedes($1.path.bytes) }
        }
    }

    private static func parkedItem(
        _ item: Int64, _ error: ParkedError, _ paths: inout PathBuilder, _ db: Database
    ) throws -> ParkedEntry? {
        let container = try db.first("SELECT container FROM items WHERE id = ?", .integer(item), read: { $0.text(0) })
        guard let container, let path = try paths.path(item, db) else { return nil }
        return ParkedEntry(
            subject: .item(ItemID(item)), container: ContainerID(container) ?? .default, path: path, error: error)
    }

    private static func parkedBase(
        _ container: ContainerID, _ path: RelativePath, _ error: ParkedError, _ paths: inout PathBuilder, _ db: Database
    ) throws -> ParkedEntry? {
        var root = RelativePath.root
        if container != .default {
            let id = try db.first("SELECT id FROM items WHERE role = 1 AND container = ?", .text(container.rawValue)) {
                $0.integer(0)
            }
            guard let found = try id.flatMap({ try paths.path($0, db) }) else { return nil }
            root = found
        }
        return ParkedEntry(
            subject: .base(container, path), container: container, path: root.appending(path), error: error)
    }

    /// Sets the item's tags: trimmed of nothing, empty ones and commas inside one are not possible.
    ///
    /// - Returns: false when there is no such item.
    @discardableResult
    package func setTags(_ id: ItemID, _ tags: [String]) async throws(IndexError) -> Bool {
        let (text, tagged, now) = (TagList.text(tags), tagged, clock().nanoseconds)
        let isThere = try await write("tagging") { db in
            guard let row = try db.first(ItemRow.byID, .integer(id.rawValue), read: { ItemRow($0) }) else {
                return false
            }
            try db.setTags(of: row, text, tagged, now)
            return true
        }
        progress.tick()
        return isThere
    }

    /// Adds tags to an item's, after those that it has, and takes others away; each tag is there once.
    ///
    /// - Returns: the tags that it has now; nil when there is no such item.
    package func changeTags(_ id: ItemID, adding: [String], removing: [String]) async throws(IndexError) -> [String]? {
        let (tagged, now) = (tagged, clock().nanoseconds)
        let tags = try await write("tagging") { db -> [String]? in
            guard let row = try db.first(ItemRow.byID, .integer(id.rawValue), read: { ItemRow($0) }) else { return nil }
            var tags = TagList.names(row.tags).filter { !removing.contains($0) }
            for tag in adding where !tags.contains(tag) { tags.append(tag) }
            try db.setTags(of: row, tags.joined(separator: ","), tagged, now)
            return tags
        }
        progress.tick()
        return tags
    }

    /// Whether some name of this inode may have tags; false where none has. Answers at once: while events are not committed, a
    /// tagged document may be another file by now.
    package func mayHaveTags(inode: UInt64) -> Bool {
        tagged.contains(inode) || !tagged.isEmpty && queuedEvents > 0
    }

    /// A value that outlives the daemon: cursors, who keeps a container.
    package func value(_ key: String) async throws(IndexError) -> String? {
        try await read("a value") { try $0.meta("user." + key) }
    }

    /// Sets such a value, or removes it with nil.
    ///
    /// - Parameter durably: survives a power cut once it is done, which costs one write to the disk.
    package func setValue(_ key: String, _ value: String?, durably: Bool = false) async throws(IndexError) {
        let set = { @Sendable (db: Database) in try db.setMeta("user." + key, value) }
        if durably { try await writeDurably("storing a value", set) } else { try await write("storing a value", set) }
    }
}

extension Database {
    fileprivate func setTags(of before: ItemRow, _ tags: String, _ tagged: TaggedInodes, _ now: Int64) throws {
        var row = before
        row.tags = tags
        // Before it is so: whoever looks meanwhile looks closer.
        if !tags.isEmpty { tagged.insert(row.local.inode) }
        let difference = row.difference.rawValue
        // Where the provider keeps tags, they are to be sent.
        try run(
            "UPDATE items SET tags = ?, pending = ?, since = ? WHERE id = ?", .text(tags), .integer(difference),
            .integer(difference == row.pending ? row.since : now), .integer(row.id))
    }
}

extension ParkedSubject {
    fileprivate var key: (item: Int64, container: String, path: [UInt8]) {
        switch self {
        case .item(let id): (id.rawValue, "", [])
        case .base(let container, let path): (0, container.rawValue, path.bytes)
        }
    }
}
