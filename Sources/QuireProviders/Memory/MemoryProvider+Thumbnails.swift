package import QuireCore

extension MemoryProvider: ThumbnailStorage {
    package func putThumbnail(_ name: String, _ picture: [UInt8]) async throws(ProviderError) {
        try Self.checkThumbnailName(name)
        try access(.putThumbnail(name)) { (tree) throws(ProviderError) in
            tree.thumbnailCounter += 1
            tree.thumbnails[name] = (picture, tree.thumbnailCounter)
        }
    }

    package func thumbnail(_ name: String) async throws(ProviderError) -> [UInt8]? {
        try Self.checkThumbnailName(name)
        return try access(.thumbnail(name)) { (tree) throws(ProviderError) in
            let picture = tree.thumbnails[name]?.picture
            guard picture?.count ?? 0 <= Self.largestThumbnail else {
                throw ProviderError(.corrupt, "\(name) is no thumbnail")
            }
            return picture
        }
    }

    package func thumbnails(since cursor: String?) async throws(ProviderError) -> ThumbnailListing? {
        try access(.thumbnails) { (tree) throws(ProviderError) in
            let next = "\(tree.thumbnailCounter)"
            guard next != cursor else { return nil }
            return ThumbnailListing(
                entries: tree.thumbnails.map { name, entry in
                    .init(
                        name: name, size: ByteCount(Int64(entry.picture.count)),
                        stored: FileTime(seconds: entry.stored, nanoseconds: 0))
                }, cursor: next)
        }
    }

    package func removeThumbnail(_ name: String) async throws(ProviderError) {
        try Self.checkThumbnailName(name)
        try access(.removeThumbnail(name)) { (tree) throws(ProviderError) in
            tree.thumbnailCounter += 1
            tree.thumbnails[name] = nil
        }
    }
}
