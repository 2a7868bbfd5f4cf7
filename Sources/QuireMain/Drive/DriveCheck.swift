import QuireCore
import QuireStore

/// Compares the store with the index, and the index with a provider's listing.
struct DriveCheck: Sendable {
    let catalog: any DriveCatalog
    let tree: DriveTree

    /// What differs between store and index. What changes while it is compared is looked at again.
    ///
    /// - Returns: the number of items compared, and the differences in the order of their paths.
    func store() async throws -> (items: Int, differences: [CheckDifference]) {
        await catalog.settle()
        var known: [RelativePath: CatalogEntry] = [:]
        for entry in try await catalog.entries(below: .root) { known[entry.path] = entry }
        let tree = tree
        let found = try await Blocking.run { () throws(StoreError) in try Self.walk(tree) }
        let paths = Set(known.keys).union(found.keys)
        var differences: [CheckDifference] = []
        for path in paths.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            guard Self.difference(known[path], found[path]) != nil else { continue }
            await catalog.settle()
            let entry = try await catalog.entry(at: path)
            let status = try await Blocking.run { () throws(StoreError) in try tree.status(at: path) }
            if let message = Self.difference(entry, status) {
                differences.append(
                    CheckDifference(path: WirePath(path), kind: .store, message: message, repaired: false))
            }
        }
        return (paths.count, differences)
    }

    /// What differs between what the index believes that a provider has, and what it has.
    static func provider(
        _ bases: [BaseRecord], _ items: [RemoteItem], root: RelativePath, excluded: [RelativePath]
    ) -> [CheckDifference] {
        var believed: [RelativePath: BaseRecord] = [:]
        for base in bases { believed[base.path] = base }
        var differences: [CheckDifference] = []
        func differ(_ path: RelativePath, _ message: String) {
            differences.append(
                CheckDifference(
                    path: WirePath(root.appending(path)), kind: .provider, message: message, repaired: false))
        }
        for item in items {
            if let reason = item.unseen { differ(item.path, "it cannot be seen at the provider: \(reason)") }
        }
        var items = items
        let unseen = UnseenPlaces(takingFrom: &items)
        for item in items where !excluded.contains(where: { item.path.isInside($0) }) {
            guard let base = believed.removeValue(forKey: item.path) else {
                differ(item.path, "the provider has it, the index does not know")
                continue
            }
            if base.kind != item.kind {
                differ(item.path, "a \(item.kind.rawValue) at the provider, a \(base.kind.rawValue) in the index")
            } else if base.kind != .directory, base.version != item.version {
                differ(item.path, "the provider has another version than the index")
            }
        }
        for path in believed.keys where !unseen.keeps(path) {
            differ(path, "the index believes that the provider has it, but it has not")
        }
        return differences.sorted { $0.path.path.bytes.lexicographicallyPrecedes($1.path.path.bytes) }
    }

    private static func walk(_ tree: DriveTree) throws(StoreError) -> [RelativePath: FileStatus] {
        var found: [RelativePath: FileStatus] = [:]
        var directories: [RelativePath] = [.root]
        while let directory = directories.popLast() {
            let entries: [DirectoryEntry]
            do {
                entries = try tree.list(directory)
            } catch {
                // Removed while it was walked: the second look decides.
                guard error.code == .notFound, !directory.isRoot else { throw error }
                continue
            }
            for entry in entries {
                let path = directory.appending(entry.name)
                found[path] = entry.status
                if entry.status.kind == .directory { directories.append(path) }
            }
        }
        return found
    }

    /// In words; nil where both agree.
    static func difference(_ entry: CatalogEntry?, _ status: FileStatus?) -> String? {
        switch (entry, status) {
        case (nil, nil): return nil
        case (nil, _?): return "in the store, not in the index"
        case (_?, nil): return "in the index, not in the store"
        case (let entry?, let status?):
            if entry.kind != status.kind {
                return "a \(status.kind.rawValue) in the store, a \(entry.kind.rawValue) in the index"
            }
            if entry.inode != status.inode { return "another file in the store than in the index" }
            if entry.kind == .file, entry.size != status.size {
                return "\(status.size) bytes in the store, \(entry.size) in the index"
            }
            if entry.kind != .directory, entry.mtime != status.mtime {
                return "changed in the store, and the index missed it"
            }
            return entry.mode == status.mode ? nil : "its mode differs between store and index"
        }
    }
}
