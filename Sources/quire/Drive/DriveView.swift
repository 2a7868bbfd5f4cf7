import QuireCore
import QuireStore

/// Answers questions about items, from the index and the store; asks no provider.
struct DriveView: Sendable {
    let catalog: any DriveCatalog
    let tree: DriveTree
    /// The provider's name in the configuration, of each container.
    let providerName: @Sendable (ContainerID) -> String
    /// What is under way for an item.
    let transfer: @Sendable (ItemID) -> ItemState?

    /// How one item stands, what happened before the call included.
    func status(at path: RelativePath) async throws -> ItemStatus {
        let entry = try await entry(at: path)
        return status(entry, conflicts: try await conflicts())
    }

    /// All metadata of one item.
    func info(at path: RelativePath) async throws -> ItemInfo {
        let entry = try await entry(at: path)
        let conflicts = try await conflicts()
        let error = entry.error.map { message in
            DriveStatus.Problem(
                path: WirePath(path), message: message, since: WireTime(entry.errorSince ?? entry.ctime))
        }
        return ItemInfo(
            status: status(entry, conflicts: conflicts), modified: WireTime(entry.mtime), changed: WireTime(entry.ctime),
            mode: String(entry.mode, radix: 8), tags: entry.tags,
            checksum: entry.isPending ? nil : entry.base?.checksum,
            conflicts: conflicts.copies(of: path).map(WirePath.init), error: error,
            symlinkTarget: try await symlinkTarget(entry))
    }

    /// Items below a directory that satisfy all conditions, in parts; returns their number.
    func find(_ query: ItemMethods.Find.Parameters, _ body: ([ItemStatus]) async -> Void) async throws -> Int {
        let directory = query.directory?.path ?? .root
        if !directory.isRoot {
            let entry = try await entry(at: directory)
            guard entry.kind == .directory else { throw QuireError(.usage, "\(directory) is not a directory") }
        }
        let conflicts = try await conflicts()
        let glob = query.name.map(Glob.init)
        let states = query.states.map(Set.init)
        var count = 0
        try await catalog.entries(below: directory) { entries in
            var found: [ItemStatus] = []
            for entry in entries {
                if let glob, !(entry.path.name.map { glob.matches($0.bytes) } ?? false) { continue }
                let status = status(entry, conflicts: conflicts)
                if let states, !states.contains(status.state) { continue }
                found.append(status)
            }
            count += found.count
            if !query.countOnly { await body(found) }
        }
        return count
    }

    /// The regular files below a directory, in parts; returns their number.
    func manifest(_ directory: RelativePath, _ body: ([ItemMethods.Manifest.Entry]) async -> Void) async throws -> Int {
        let top = try await directory.isRoot ? nil : entry(at: directory)
        var count = 0
        func show(_ entries: [CatalogEntry]) async {
            let files = entries.filter { $0.kind == .file }.map { entry in
                ItemMethods.Manifest.Entry(
                    path: WirePath(entry.path), dataless: entry.isDataless,
                    checksum: entry.isDataless ? entry.base?.checksum : nil)
            }
            count += files.count
            await body(files)
        }
        if let top, top.kind != .directory {
            await show([top])
        } else {
            await catalog.settle()
            try await catalog.entries(below: directory) { await show($0) }
        }
        return count
    }

    /// The conflict copies that there are now.
    func conflicts() async throws -> ConflictSet {
        await catalog.settle()
        return ConflictSet(copies: try await catalog.conflictCopies())
    }

    /// The item at a path, what happened before the call included.
    func entry(at path: RelativePath) async throws -> CatalogEntry {
        await catalog.settle()
        guard let entry = try await catalog.entry(at: path) else {
            throw QuireError(.notFound, "nothing is at \(path) on the drive")
        }
        return entry
    }

    func status(_ entry: CatalogEntry, conflicts: ConflictSet) -> ItemStatus {
        let state = ItemStateRule.state(
            entry, transfer: transfer(entry.id), isConflict: conflicts.contains(entry.path))
        return ItemStatus(
            path: WirePath(entry.path), id: entry.id, kind: entry.kind, size: entry.size, state: state,
            version: entry.base?.version, provider: providerName(entry.container), container: entry.container,
            pinned: entry.isPinned, materialized: entry.isDataless || entry.kind != .file ? 0 : entry.size)
    }

    private func symlinkTarget(_ entry: CatalogEntry) async throws -> String? {
        guard entry.kind == .symlink else { return nil }
        let tree = tree
        let target = try await Blocking.run { () throws(StoreError) in try tree.readLink(entry.path) }
        return DisplayBytes.escaped(target)
    }
}
