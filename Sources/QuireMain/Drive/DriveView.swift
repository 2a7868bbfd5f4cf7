import QuireCore
import QuireIndex
import QuireStore
import QuireSync

/// Answers questions about items, from the index and the store; asks no provider.
struct DriveView: Sendable {
    let catalog: any DriveCatalog
    let tree: DriveTree
    /// Whether the words of documents are kept.
    let searchesContent: Bool
    /// The provider's name in the configuration, of each container.
    let providerName: @Sendable (ContainerID) -> String
    /// What is under way for an item.
    let transfer: @Sendable (ItemID) -> ItemState?
    /// The same of all items.
    let transfers: @Sendable () -> [ItemID: ItemState]
    /// How far what is under way for an item is.
    var progress: @Sendable (ItemID) -> Transfer? = { _ in nil }
    /// How much is here of an item that comes as it is read.
    var arrived: @Sendable (ItemID) -> ByteCount? = { _ in nil }
    /// What people know a container by.
    var containerName: @Sendable (ContainerID) -> String = { $0.rawValue }
    /// What an item waits for; nil where that is nothing, or not known.
    var waiting: @Sendable (CatalogEntry) async throws -> DriveStatus.Waiting? = { _ in nil }

    /// How one item stands, what happened before the call included.
    func status(at path: RelativePath) async throws -> ItemStatus {
        status(try await entry(at: path))
    }

    /// The same, with what it waits for.
    func explainedStatus(at path: RelativePath) async throws -> ItemStatus {
        let entry = try await entry(at: path)
        var status = status(entry)
        status.waiting =
            try await waiting(entry)
            ?? entry.error.map { .init(path: WirePath(path), reason: "parked", message: $0, until: nil) }
        if status.waiting?.reason == WaitingUpload.Reason.held.rawValue {
            status.waiting?.message = DriveStatus.Held.remedy(.provider, status.provider)
        }
        return status
    }

    /// Items below a directory that satisfy all conditions, in parts; returns their number.
    func find(_ query: ItemMethods.Find.Parameters, _ body: ([ItemStatus]) async -> Void) async throws -> Int {
        try await catalog.reading { try await findHere(query, body) }
    }

    private func findHere(
        _ query: ItemMethods.Find.Parameters, _ body: ([ItemStatus]) async -> Void
    ) async throws -> Int {
        let wanted = try await self.query(query)
        if query.countOnly { return try await catalog.count(wanted) }
        let (ids, first) = try await catalog.search(wanted, first: Self.page)
        var count = first.count
        if !first.isEmpty { await body(first.map(status)) }
        for start in stride(from: Self.page, to: ids.count, by: Self.page) {
            try Task.checkCancellation()
            let page = ids[start..<min(start + Self.page, ids.count)]
            let found = try await catalog.entries(page, matching: wanted)
            await body(found.map(status))
            count += found.count
        }
        return count
    }

    /// Where what is found is, in parts; returns how many.
    func findPaths(
        _ query: ItemMethods.Find.Parameters, _ body: ([RelativePath]) async throws -> Void
    ) async throws -> Int {
        try await catalog.reading {
            let wanted = try await self.query(query)
            return try await query.countOnly ? catalog.count(wanted) : catalog.paths(wanted, body)
        }
    }

    /// How many results are in memory at one time.
    private static let page = 1000

    /// What is asked for, in the index's words; what happened before the call is in the index then.
    func query(_ query: ItemMethods.Find.Parameters) async throws -> ItemQuery {
        try await catalog.waitUntilWhole()
        if let limit = query.limit, limit < 0 {
            throw QuireError(.usage, "\(limit) is no number of results", remedy: "Leave it out for all")
        }
        let directory = query.directory?.path ?? .root
        if directory.isRoot {
            await catalog.settle()
        } else {
            let entry = try await entry(at: directory)
            guard entry.kind == .directory else { throw QuireError(.usage, "\(directory) is not a directory") }
        }
        var wanted = ItemQuery(
            nameGlob: query.name.map(Glob.init), states: Set(query.states ?? []), under: directory,
            limit: query.limit ?? .max, predicate: try query.expression.map(Self.predicate),
            order: try (query.order ?? []).map(Self.order))
        guard searchesContent || wanted.predicate?.wordPatterns.isEmpty ?? true else {
            throw QuireError(
                .unavailable, "the content of documents is not searched on this drive",
                remedy: "Set `content = true` below `[index]` in config.toml, then `quire unmount` and `quire mount`")
        }
        wanted.transfers = transfers()
        return wanted
    }

    /// An attribute's name; after a minus sign, the greatest first.
    private static func order(_ text: String) throws(QuireError) -> QueryOrder {
        let isDescending = text.hasPrefix("-")
        guard let attribute = QueryAttribute(named: isDescending ? String(text.dropFirst()) : text),
            attribute.kind != .words
        else {
            let known = QueryAttribute.allCases.filter { $0.kind != .words }.map(\.rawValue).joined(separator: ", ")
            throw QuireError(.usage, "\"\(text)\" is no attribute to order by", remedy: "Such attributes are: \(known)")
        }
        return QueryOrder(attribute, isDescending: isDescending)
    }

    private static func predicate(_ expression: String) throws(QuireError) -> QueryPredicate {
        do throws(QueryError) {
            return try QueryParser.parse(expression)
        } catch {
            throw QuireError(.usage, "the expression cannot be read \(error)")
        }
    }

    /// The regular files below a directory, in parts; returns their number.
    func manifest(_ directory: RelativePath, _ body: ([ItemMethods.Manifest.Entry]) async -> Void) async throws -> Int {
        try await catalog.waitUntilWhole()
        await catalog.settle()
        let top = try await directory.isRoot ? nil : entry(at: directory)
        let entries =
            if let top, top.kind != .directory { [top] } else { try await catalog.entries(below: directory) }
        let files = entries.filter { $0.kind == .file }.map { entry in
            ItemMethods.Manifest.Entry(
                path: WirePath(entry.path), dataless: entry.isDataless,
                checksum: entry.isDataless ? entry.base?.checksum : nil)
        }
        await body(files)
        return files.count
    }

    /// The conflict copies that there are now.
    func conflicts() async throws -> ConflictSet {
        await catalog.settle()
        return ConflictSet(copies: try await catalog.conflictCopies())
    }

    /// The conflict copies beside a document.
    func copies(of document: RelativePath) async throws -> [RelativePath] {
        guard let parent = document.parent else { return [] }
        return ConflictSet(copies: try await catalog.children(of: parent).map(\.path)).copies(of: document)
    }

    /// The item at a path, what happened before the call included.
    func entry(at path: RelativePath) async throws -> CatalogEntry {
        await catalog.settle()
        guard let entry = try await catalog.entry(at: path) else {
            throw QuireError(.notFound, "nothing is at \(path) on the drive")
        }
        return entry
    }

    func status(_ entry: CatalogEntry) -> ItemStatus {
        let arrived = entry.state == .dataless ? arrived(entry.id) : nil
        let here = entry.isDataless || entry.kind != .file ? arrived?.bytes ?? 0 : entry.size
        return ItemStatus(
            path: WirePath(entry.path), id: entry.id, kind: entry.kind, size: entry.size,
            state: transfer(entry.id) ?? (arrived == nil ? entry.state : .partial), version: entry.base?.version,
            provider: providerName(entry.container), container: entry.container,
            pinned: entry.isPinned, materialized: here)
    }

    /// What a running query tells of an item.
    func record(_ entry: CatalogEntry) -> QueryMethods.ItemRecord {
        QueryMethods.ItemRecord(
            status: status(entry), modified: WireTime(entry.mtime), changed: WireTime(entry.ctime),
            created: WireTime(entry.created), added: WireTime(entry.added), type: entry.type.identifier,
            typeTree: TypeCatalog.system.tree(entry.type).map(\.identifier),
            containerName: containerName(entry.container), tags: entry.tags,
            uploaded: entry.base != nil && !entry.isPending, dataless: entry.isDataless)
    }
}
