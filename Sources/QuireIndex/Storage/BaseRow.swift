import GRDB
import QuireCore

extension BaseRecord {
    static let columns = """
        b.id, b.container, b.parent, b.name, b.kind, b.version, b.size, b.mtime, b.mode, b.identifier, b.checksum, \
        b.symlink_target, b.tags
        """

    /// How many columns that is.
    static let columnCount: Int32 = 13

    /// Reads the columns of `BaseRecord.columns`.
    init(_ row: SQLRow, from first: Int32 = 0, path: RelativePath) {
        self.init(
            container: ContainerID(unchecked: row.text(first + 1)), path: path,
            kind: FileKind(code: row.integer(first + 4)), version: ProviderVersion(row.text(first + 5)),
            size: row.integer(first + 6), mtime: FileTime(nanoseconds: row.integer(first + 7)),
            mode: row.optionalInteger(first + 8).map { UInt16(truncatingIfNeeded: $0) },
            identifier: row.optionalText(first + 9),
            checksum: row.optionalBlob(first + 10).flatMap { ContentChecksum(bytes: $0) },
            symlinkTarget: row.optionalBlob(first + 11), tags: row.optionalText(first + 12).map(TagList.names))
    }
}

extension Database {
    /// The id of the base that is called so in a directory, 0 for the container's root; nil where there is none.
    func baseID(_ container: ContainerID, in parent: Int64, _ name: FileName) throws -> Int64? {
        try first(
            "SELECT id FROM bases WHERE container = ? AND parent = ? AND name = ?", .text(container.rawValue),
            .integer(parent), .blob(name.bytes), read: { $0.integer(0) })
    }

    /// The id of the base at a path below the container's root, 0 for that; nil where there is none.
    func baseID(_ container: ContainerID, at path: RelativePath) throws -> Int64? {
        var id: Int64 = 0
        for name in path.components {
            guard let next = try baseID(container, in: id, name) else { return nil }
            id = next
        }
        return id
    }
}

/// Paths from parent links, remembering directories for the length of one read.
struct PathBuilder {
    private let sql: String
    private var known: [Int64: RelativePath]

    /// Paths of items, below the drive's root.
    static func items(root: Int64) -> PathBuilder {
        PathBuilder(sql: "SELECT parent, name FROM items WHERE id = ?", known: [root: .root])
    }

    /// Paths of bases, below their container's root.
    static var bases: PathBuilder { PathBuilder(sql: "SELECT parent, name FROM bases WHERE id = ?", known: [0: .root]) }

    /// The path of a directory; nil when it, or one that it lies in, is not there.
    mutating func path(_ directory: Int64, _ db: Database) throws -> RelativePath? {
        var pending: [(id: Int64, name: FileName)] = []
        var id = directory
        // Met again, it shows a cycle, which only a damaged index has; moved up at ever greater distances (Brent).
        var mark: Int64?
        while known[id] == nil {
            guard id != mark else { return nil }
            if pending.count & (pending.count - 1) == 0 { mark = id }
            let found = try db.first(sql, .integer(id)) { ($0.integer(0), $0.blob(1)) }
            guard let (parent, name) = found else { return nil }
            pending.append((id, FileName(unchecked: name)))
            id = parent
        }
        guard var path = known[id] else { return nil }
        for (id, name) in pending.reversed() {
            path = path.appending(name)
            // Long-lived reads of a million directories must stay small.
            if known.count < 20_000 { known[id] = path }
        }
        return path
    }

    /// The path of the entry `name` in a directory.
    mutating func path(_ directory: Int64, _ name: [UInt8], _ db: Database) throws -> RelativePath? {
        try path(directory, db)?.appending(FileName(unchecked: name))
    }
}
