import QuireCore

/// Lists everything an account has, but for what is Quire's own.
struct DAVWalk {
    let client: DAVClient
    /// Whether one request may ask for all.
    let listsAll: Bool

    /// Directories that are listed at the same time.
    private static let width = 8
    /// Most bytes of a listing of everything; beyond it, directory by directory.
    private static let wholeLimit = 512 << 20

    /// - Throws: where any directory could not be listed to its end; a listing is never cut short silently.
    func list() async throws(ProviderError) -> [RemoteItem] {
        guard listsAll else { return try await walk() }
        let found: [(path: RelativePath, resource: DAVResource)]?
        do throws(ProviderError) {
            found = try await client.propfind(.root, depth: "infinity", limit: Self.wholeLimit)
        } catch {
            // An administrator may have switched it off since, or the answer may be too long.
            guard error.code == .failed || error.code == .permissionDenied else { throw error }
            return try await walk()
        }
        guard let found else { throw Self.gone }
        let items = try Self.items(found, of: .root)
        return try await isWhole(items) ? items : try await walk()
    }

    /// Whether a listing of everything is that: some servers end it at a certain depth and do not say so. So what are the
    /// deepest directories in it must be empty.
    private func isWhole(_ items: [RemoteItem]) async throws(ProviderError) -> Bool {
        let deepest = items.reduce(0) { max($0, $1.path.depth) }
        // The probe has seen that many.
        guard deepest > 2 else { return true }
        for item in items where item.kind == .directory && item.path.depth == deepest {
            if try await !listed(item.path).get().isEmpty { return false }
        }
        return true
    }

    private func walk() async throws(ProviderError) -> [RemoteItem] {
        let result = await withTaskGroup(of: Result<[RemoteItem], ProviderError>.self) { group in
            var items: [RemoteItem] = []
            var waiting: [RelativePath] = [.root]
            var running = 0
            while !waiting.isEmpty || running > 0 {
                while running < Self.width, let next = waiting.popLast() {
                    running += 1
                    group.addTask { await listed(next) }
                }
                guard let result = await group.next() else { break }
                running -= 1
                switch result {
                case .success(let children):
                    items += children
                    waiting += children.filter { $0.kind == .directory }.map(\.path)
                case .failure(let error):
                    group.cancelAll()
                    return Result<[RemoteItem], ProviderError>.failure(error)
                }
            }
            return .success(items)
        }
        return try result.get()
    }

    private func listed(_ directory: RelativePath) async -> Result<[RemoteItem], ProviderError> {
        do throws(ProviderError) {
            guard let found = try await client.propfind(directory, depth: "1", isDirectory: true) else {
                if directory.isRoot { throw Self.gone }
                // It went while its parent was listed; the next listing is without it.
                return .success([])
            }
            guard found.contains(where: { $0.path == directory }) else {
                throw ProviderError(.failed, "\(directory): the server's listing is not of this directory")
            }
            return .success(try Self.items(found, of: directory))
        } catch {
            return .failure(error)
        }
    }

    private static func items(
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
            items.append(try resource.item(path))
        }
        return items
    }

    private static let gone = ProviderError(
        .unavailable, "the account is not there: the server knows no such collection")
}
