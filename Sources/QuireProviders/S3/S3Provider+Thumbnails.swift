package import QuireCore

/// Thumbnails lie in `.quire/thumbnails/NAME.png`.
extension S3Provider: ThumbnailStorage {
    package func putThumbnail(_ name: String, _ picture: [UInt8]) async throws(ProviderError) {
        let key = try key(name)
        let answer = try await client.put(key, .bytes(picture), .none, fields: ["Content-Type": "image/png"])
        guard answer.isSuccess else { throw client.error(answer, "the thumbnail \(name) cannot be written") }
    }

    package func thumbnail(_ name: String) async throws(ProviderError) -> [UInt8]? {
        let key = try key(name)
        do throws(ProviderError) {
            return try await client.get(key, limit: Self.largestThumbnail)
        } catch {
            // Of all that can be wrong with an answer that arrived, this is its length.
            throw error.code == .failed ? ProviderError(.corrupt, "\(name) is no thumbnail") : error
        }
    }

    package func thumbnails(since cursor: String?) async throws(ProviderError) -> ThumbnailListing? {
        try checkConnected()
        let directory = client.address.directoryKey(StoreLayout.thumbnails)
        let found = try await client.listAll(directory)
        if found.isEmpty { try await confirm() }
        var digest = ListingDigest()
        var entries: [ThumbnailListing.Entry] = []
        for object in found where object.key.suffix(4).elementsEqual(".png".utf8) {
            let name = String(decoding: object.key.dropFirst(directory.count).dropLast(4), as: UTF8.self)
            digest.add(
                RemoteItem(
                    path: RelativePath(unchecked: object.key), kind: .file, version: ProviderVersion(object.entityTag),
                    size: ByteCount(object.size), mtime: object.modified))
            entries.append(.init(name: name, size: ByteCount(object.size), stored: object.modified))
        }
        let next = digest.cursor.rawValue
        return next == cursor ? nil : ThumbnailListing(entries: entries, cursor: next)
    }

    package func removeThumbnail(_ name: String) async throws(ProviderError) {
        let answer = try await client.delete(try key(name))
        guard answer.isSuccess || answer.status == 404 else {
            throw client.error(answer, "the thumbnail \(name) cannot be removed")
        }
    }

    private func key(_ name: String) throws(ProviderError) -> [UInt8] {
        try Self.checkThumbnailName(name)
        try checkConnected()
        return client.address.key(StoreLayout.thumbnail(name))
    }
}
