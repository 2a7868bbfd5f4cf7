import QuireCore

/// Lists everything an account has, but for what is Quire's own.
struct DAVWalk {
    let client: DAVClient
    /// Whether the server keeps stamps.
    let stamps: Bool
    /// Whether one request may ask for all.
    let listsAll: Bool
    /// Hears whether the server listed everything, or why not, although it listed its directories.
    var noted: @Sendable (ProviderError?) -> Void = { _ in }

    /// What one directory has in it.
    struct DirectoryListing: Sendable {
        let path: RelativePath
        let items: [RemoteItem]
        /// Entity tags of the directories, exactly as they came; empty for one that has none.
        let tags: [RelativePath: String]

        var directories: [RelativePath] { items.filter { $0.kind == .directory }.map(\.path) }
    }

    /// Directories that are listed at the same time.
    private static let width = 8
    /// Most bytes of a listing of everything; beyond it, directory by directory.
    private static let wholeLimit = 512 << 20

    /// - Throws: where any directory could not be listed to its end; a listing is never cut short silently.
    func list() async throws(ProviderError) -> [RemoteItem] {
        guard listsAll else { return try await walk() }
        let all: [RemoteItem]
        do throws(ProviderError) {
            guard let found = try await client.list(.root, depth: "infinity", limit: Self.wholeLimit) else {
                throw Self.gone
            }
            all = try items(found, of: .root)
        } catch {
            guard error.code != .cancelled else { throw error }
            // An administrator may have switched it off since, or it may take too long by now, or be too long. Where it is
            // the server that is not there, its directories are not listed, either.
            let items = try await walk()
            noted(error)
            return items
        }
        noted(nil)
        return try await isWhole(all) ? all : try await walk()
    }

    /// Whether a listing of everything is that: some servers end it at a certain depth and do not say so. So what are the
    /// deepest directories in it must be empty.
    private func isWhole(_ items: [RemoteItem]) async throws(ProviderError) -> Bool {
        let deepest = items.reduce(0) { max($0, $1.path.depth) }
        // The probe has seen that many.
        guard deepest > 2 else { return true }
        for item in items where item.kind == .directory && item.path.depth == deepest {
            if let listing = try await listed(item.path).get(), !listing.items.isEmpty { return false }
        }
        return true
    }

    /// Everything below directories; nothing for those that are gone.
    func list(in directories: [RelativePath]) async throws(ProviderError) -> [RemoteItem] {
        var items: [RemoteItem] = []
        try await walk(from: directories) { listing in
            items += listing.items
            return listing.directories
        }
        return items
    }

    private func walk() async throws(ProviderError) -> [RemoteItem] { try await list(in: [.root]) }

    /// Lists directories, and then those that `visit` names of what is in them, several at a time.
    ///
    /// - Parameter visit: takes one listing after the other, in any order of directories but parents first. Not called for a
    ///   directory that is gone.
    func walk(
        from starts: [RelativePath], visit: (DirectoryListing) -> [RelativePath]
    ) async throws(ProviderError) {
        let result = await withTaskGroup(of: Result<DirectoryListing?, ProviderError>.self) { group in
            var waiting = starts
            var running = 0
            while !waiting.isEmpty || running > 0 {
                while running < Self.width, let next = waiting.popLast() {
                    running += 1
                    group.addTask { await listed(next) }
                }
                guard let result = await group.next() else { break }
                running -= 1
                switch result {
                case .success(let listing):
                    if let listing { waiting += visit(listing) }
                case .failure(let error):
                    group.cancelAll()
                    return Result<Void, ProviderError>.failure(error)
                }
            }
            return .success(())
        }
        try result.get()
    }

    private func listed(_ directory: RelativePath) async -> Result<DirectoryListing?, ProviderError> {
        do throws(ProviderError) {
            guard let found = try await client.list(directory) else {
                if directory.isRoot { throw Self.gone }
                // It went while its parent was listed; the next listing is without it.
                return .success(nil)
            }
            let tags = found.lazy.filter { $0.resource.isDirectory }.map { ($0.path, $0.resource.entityTag ?? "") }
            return .success(
                DirectoryListing(
                    path: directory, items: try items(found, of: directory),
                    tags: Dictionary(tags, uniquingKeysWith: { _, last in last })))
        } catch {
            return .failure(error)
        }
    }

    private func items(
        _ found: [(path: RelativePath, resource: DAVResource)], of directory: RelativePath
    ) throws(ProviderError) -> [RemoteItem] {
        var items: [RemoteItem] = []
        items.reserveCapacity(found.count)
        for (path, resource) in found where path != directory && !path.isInside(StoreLayout.control) {
            if let status = resource.status, !(200..<300).contains(status) {
                // Gone while it was listed, or not to be read: the latter must not be taken for the former.
                if status == 404 { continue }
                throw ProviderError(.permissionDenied, "\(path) cannot be listed: the server says \(status) for it")
            }
            items.append(try resource.item(path, stamps: stamps))
        }
        return items
    }

    static let gone = ProviderError(
        .unavailable, "the account is not there: the server knows no such collection")
}
