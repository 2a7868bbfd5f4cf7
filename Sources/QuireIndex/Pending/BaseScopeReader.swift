import GRDB
import QuireCore

/// Finds the bases of a `BaseScope`, in one read.
struct BaseScopeReader {
    private let container: ContainerID
    private let db: Database
    /// Row ids of bases by their paths; 0 for the root, nil where there is none.
    private var known: [RelativePath: Int64?] = [.root: 0]
    private var found: Set<Int64> = []
    /// Of `found`: those whose directories are not looked up yet.
    private var open: [Int64] = []

    /// Their row ids.
    static func bases(_ scope: BaseScope, of container: ContainerID, _ db: Database) throws -> Set<Int64> {
        var reader = BaseScopeReader(container: container, db: db)
        var replaced: [Int64] = []
        for item in scope.changed {
            if let base = try reader.base(at: item.path), try reader.isReplaced(base, by: item) {
                replaced.append(base)
            }
        }
        for path in scope.removed { if let base = try reader.base(at: path) { replaced.append(base) } }
        try reader.descend(from: replaced)
        try reader.addDirectories()
        return reader.found
    }

    private init(container: ContainerID, db: Database) {
        self.container = container
        self.db = db
    }

    /// The base at a path. It is in the scope then, as are those of the directories above it.
    private mutating func base(at path: RelativePath) throws -> Int64? {
        if let id = known[path] { return id }
        guard let parent = path.parent, let name = path.name else { return nil }
        let id = try base(at: parent).flatMap { try db.baseID(container, in: $0, name) }
        known[path] = .some(id)
        if let id { insert(id) }
        return id
    }

    /// Whether what is below a directory's base is not below the item at its path.
    private func isReplaced(_ base: Int64, by item: RemoteItem) throws -> Bool {
        try db.first("SELECT kind, identifier FROM bases WHERE id = ?", .integer(base)) { row in
            guard FileKind(code: row.integer(0)) == .directory else { return false }
            guard item.kind == .directory else { return true }
            guard let before = row.optionalText(1), let now = item.identifier else { return false }
            return before != now
        } ?? false
    }

    private mutating func insert(_ base: Int64) { if found.insert(base).inserted { open.append(base) } }

    /// Adds all bases below these, and those of what lies here below the items that are linked to them.
    private mutating func descend(from roots: [Int64]) throws {
        var pending = Set(roots)
        var entered: Set<Int64> = []
        var here: [Int64] = []
        while let base = pending.popFirst() {
            guard entered.insert(base).inserted else { continue }
            insert(base)
            here += try db.all("SELECT id FROM items WHERE base = ?", .integer(base)) { $0.integer(0) }
            pending.formUnion(
                try db.all(
                    "SELECT id FROM bases WHERE container = ? AND parent = ?", .text(container.rawValue), .integer(base)
                ) { $0.integer(0) })
        }
        try addBases(below: here)
    }

    private mutating func addBases(below items: [Int64]) throws {
        var pending = items
        var entered = Set(items)
        while let item = pending.popLast() {
            let children = try db.all("SELECT id, base FROM items WHERE parent = ?", .integer(item)) {
                (id: $0.integer(0), base: $0.optionalInteger(1))
            }
            for child in children {
                if let base = child.base { insert(base) }
                if entered.insert(child.id).inserted { pending.append(child.id) }
            }
        }
    }

    /// Adds the bases of the directories that these are in at the provider.
    private mutating func addDirectories() throws {
        while let base = open.popLast() {
            let parent = try db.first("SELECT parent FROM bases WHERE id = ?", .integer(base)) { $0.integer(0) }
            if let parent, parent > 0 { insert(parent) }
        }
    }
}
