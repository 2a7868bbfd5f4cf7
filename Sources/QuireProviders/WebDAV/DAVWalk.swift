import QuireCore

/// Lists everything an account has, but for what is Quire's own.
///
/// What the server does not show of it, as a directory that this account may not read, or that it fails on each time, keeps
/// nothing else from being listed: it is unseen (`RemoteItem.unseen`). But where the server is in trouble as a whole, or the
/// account itself is refused, nothing is.
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

        var directories: [RelativePath] {
            items.filter { $0.kind == .directory && $0.unseen == nil }.map(\.path)
        }
    }

    /// What became of listing one.
    private enum Look: Sendable {
        case listed(DirectoryListing)
        case gone
        case unseen(RemoteItem)
    }

    /// Before a directory is listed again that could not be. Some servers say 500 of what they may not read (nginx); others of
    /// what they can in a moment.
    private static let pauses = [Duration.seconds(1), .seconds(4)]
    /// Directories that are listed at the same time.
    private static let width = 8
    /// What a listing of everything has less of, or it is not believed: some servers end it there and do not say so (lighttpd
    /// after a hundred directories, others after two thousand resources).
    static let deepLimits = (directories: 64, resources: 1000)
    /// Most bytes of such a listing.
    private static let deepBytes = 8 << 20

    /// - Throws: where any directory could not be listed to its end, but for those that the server refuses to show; a
    ///   listing is never cut short silently.
    func list() async throws(ProviderError) -> [RemoteItem] {
        guard listsAll else { return try await walk() }
        let all: [RemoteItem]
        do throws(ProviderError) {
            guard let found = try await client.list(.root, depth: "infinity", limit: Self.deepBytes) else {
                throw Self.gone
            }
            try Self.checkSize(found)
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

    /// - Throws: `.failed` where it is so long that something may have been left out.
    private static func checkSize(
        _ found: [(path: RelativePath, resource: DAVResource)]
    ) throws(ProviderError) {
        let directories = found.lazy.filter(\.resource.isDirectory).count
        guard directories < deepLimits.directories, found.count < deepLimits.resources else {
            throw ProviderError(
                .failed,
                "a listing of \(found.count) resources at one time may be cut: directories are listed one by one")
        }
    }

    /// Whether a listing of everything is that: some servers end it at a certain depth and do not say so. So what are the
    /// deepest directories in it must be empty.
    private func isWhole(_ items: [RemoteItem]) async throws(ProviderError) -> Bool {
        let deepest = items.reduce(0) { max($0, $1.path.depth) }
        // The probe has seen that many.
        guard deepest > 2 else { return true }
        for item in items where item.kind == .directory && item.unseen == nil && item.path.depth == deepest {
            switch try await listed(item.path).get() {
            case .listed(let listing): if !listing.items.isEmpty { return false }
            case .unseen: return false
            case .gone: break
            }
        }
        return true
    }

    /// Everything below directories; nothing for those that are gone.
    func list(in directories: [RelativePath]) async throws(ProviderError) -> [RemoteItem] {
        var items: [RemoteItem] = []
        let unseen = try await walk(from: directories) { listing in
            items += listing.items
            return listing.directories
        }
        return items + unseen
    }

    private func walk() async throws(ProviderError) -> [RemoteItem] { try await list(in: [.root]) }

    /// Lists directories, and then those that `visit` names of what is in them, several at a time.
    ///
    /// - Parameter visit: takes one listing after the other, in any order of directories but parents first. Not called for a
    ///   directory that is gone.
    /// - Returns: the directories that the server does not show.
    func walk(
        from starts: [RelativePath], visit: (DirectoryListing) -> [RelativePath]
    ) async throws(ProviderError) -> [RemoteItem] {
        let result = await withTaskGroup(of: Result<Look, ProviderError>.self) { group in
            var waiting = starts
            var unseen: [RemoteItem] = []
            var running = 0
            while !waiting.isEmpty || running > 0 {
                while running < Self.width, let next = waiting.popLast() {
                    running += 1
                    group.addTask { await listed(next) }
                }
                guard let result = await group.next() else { break }
                running -= 1
                switch result {
                case .success(.listed(let listing)): waiting += visit(listing)
                case .success(.gone): break
                case .success(.unseen(let item)): unseen.append(item)
                case .failure(let error):
                    group.cancelAll()
                    return Result<[RemoteItem], ProviderError>.failure(error)
                }
            }
            return .success(unseen)
        }
        return try result.get()
    }

    private func listed(_ directory: RelativePath) async -> Result<Look, ProviderError> {
        var pauses = Self.pauses[...]
        while true {
            let result = await listedOnce(directory)
            guard case .failure(let error) = result, error.code == .failed, !directory.isRoot else { return result }
            do throws(ProviderError) {
                guard let pause = pauses.popFirst() else {
                    // The server may be in trouble as a whole.
                    guard try await client.list(.root) != nil else { return result }
                    return .success(.unseen(.unseen(directory, because: "\(error)")))
                }
                try await client.clock.pause(pause)
            } catch let other {
                return other.code == .failed ? result : .failure(other)
            }
        }
    }

    private func listedOnce(_ directory: RelativePath) async -> Result<Look, ProviderError> {
        do throws(ProviderError) {
            guard let found = try await client.list(directory) else { return .success(try await missing(directory)) }
            return .success(.listed(try listing(found, of: directory)))
        } catch {
            do throws(ProviderError) {
                guard try await isRefused(directory, error) else { return .failure(error) }
                return .success(.unseen(.unseen(directory, because: error.cause ?? error.message)))
            } catch {
                return .failure(error)
            }
        }
    }

    private func listing(
        _ found: [(path: RelativePath, resource: DAVResource)], of directory: RelativePath
    ) throws(ProviderError) -> DirectoryListing {
        let tags = found.lazy.filter { $0.resource.isDirectory }.map { ($0.path, $0.resource.entityTag ?? "") }
        return DirectoryListing(
            path: directory, items: try items(found, of: directory),
            tags: Dictionary(tags, uniquingKeysWith: { _, last in last }))
    }

    /// Of a directory that the server listed, and knows nothing of when it is asked for it: it went meanwhile, unless it is
    /// listed again.
    private func missing(_ directory: RelativePath) async throws(ProviderError) -> Look {
        guard let parent = directory.parent else { throw Self.gone }
        let isListed = try await client.list(parent)?.contains {
            $0.path == directory && $0.resource.isDirectory && $0.resource.status != 404
        }
        guard isListed == true else { return .gone }
        // For a moment only.
        if let found = try await client.list(directory) { return .listed(try listing(found, of: directory)) }
        return .unseen(
            .unseen(directory, because: "the server lists it, and knows nothing of it when it is asked for it"))
    }

    /// Whether it is only that directory that the server does not show.
    private func isRefused(_ directory: RelativePath, _ error: ProviderError) async throws(ProviderError) -> Bool {
        if directory.isRoot { return false }
        if error.isSecretRefused { return try await client.acceptsAccount() }
        return error.code == .permissionDenied
    }

    private func items(
        _ found: [(path: RelativePath, resource: DAVResource)], of directory: RelativePath
    ) throws(ProviderError) -> [RemoteItem] {
        var items: [RemoteItem] = []
        items.reserveCapacity(found.count)
        for (path, resource) in found where path != directory && !path.isInside(StoreLayout.control) {
            // Gone while it was listed.
            if resource.status == 404 { continue }
            items.append(try resource.seen(path, stamps: stamps))
        }
        return items
    }

    static let gone = ProviderError(
        .unavailable, "the account is not there: the server knows no such collection")
}
