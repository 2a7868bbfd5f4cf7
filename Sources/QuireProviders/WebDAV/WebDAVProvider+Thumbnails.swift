package import QuireCore

/// Thumbnails lie in `.quire/thumbnails/NAME.png`.
extension WebDAVProvider: ThumbnailStorage {
    package func putThumbnail(_ name: String, _ picture: [UInt8]) async throws(ProviderError) {
        try Self.checkThumbnailName(name)
        try checkConnected()
        let path = StoreLayout.thumbnail(name)
        let place = abilities.putsWhole ? path : StoreLayout.staging()
        if try await client.propfind(StoreLayout.thumbnails, depth: "0", isDirectory: true) == nil {
            try await makeOwn(StoreLayout.thumbnails)
        }
        let answer = try await client.put(place, .bytes(picture))
        guard answer.isSuccess else { throw client.transport.error(answer, "\(path) cannot be written") }
        guard place != path else { return }
        let moved = try await client.move(place, to: path, overwrite: true)
        guard moved.isSuccess else { throw client.transport.error(moved, "\(path) cannot be written") }
    }

    package func thumbnail(_ name: String) async throws(ProviderError) -> [UInt8]? {
        try Self.checkThumbnailName(name)
        try checkConnected()
        let path = StoreLayout.thumbnail(name)
        do throws(ProviderError) {
            return try await client.get(path, limit: Self.largestThumbnail)
        } catch {
            // Of all that can be wrong with an answer that arrived, this is its length.
            throw error.code == .failed ? ProviderError(.corrupt, "\(path) is no thumbnail") : error
        }
    }

    package func thumbnails(since cursor: String?) async throws(ProviderError) -> ThumbnailListing? {
        try checkConnected()
        let found = try await client.propfind(StoreLayout.thumbnails, depth: "1", isDirectory: true)
        if found == nil { try await confirm() }
        var digest = ListingDigest()
        var entries: [ThumbnailListing.Entry] = []
        for (path, resource) in found ?? [] where !resource.isDirectory {
            guard let name = path.name?.string, name.hasSuffix(".png") else { continue }
            let item = try resource.item(path, stamps: false)
            digest.add(item)
            entries.append(.init(name: String(name.dropLast(4)), size: item.size, stored: item.mtime))
        }
        let next = digest.cursor.rawValue
        return next == cursor ? nil : ThumbnailListing(entries: entries, cursor: next)
    }

    package func removeThumbnail(_ name: String) async throws(ProviderError) {
        try Self.checkThumbnailName(name)
        try checkConnected()
        let path = StoreLayout.thumbnail(name)
        let answer = try await client.delete(path)
        guard answer.isSuccess || [404, 410].contains(answer.status) else {
            throw client.transport.error(answer, "\(path) cannot be removed")
        }
    }
}
