import QuireCore

/// A provider's room for thumbnails, not to be had while the drive is paused, nor while the provider is of no use: when that
/// is asked again is the engine's to say, whose pauses grow.
struct PausableThumbnails: ThumbnailStorage {
    let storage: any ThumbnailStorage
    let engine: SyncEngine

    func putThumbnail(_ name: String, _ picture: [UInt8]) async throws(ProviderError) {
        try check()
        try await storage.putThumbnail(name, picture)
    }

    func thumbnail(_ name: String) async throws(ProviderError) -> [UInt8]? {
        try check()
        return try await storage.thumbnail(name)
    }

    func thumbnails(since cursor: String?) async throws(ProviderError) -> ThumbnailListing? {
        try check()
        return try await storage.thumbnails(since: cursor)
    }

    func removeThumbnail(_ name: String) async throws(ProviderError) {
        try check()
        try await storage.removeThumbnail(name)
    }

    private func check() throws(ProviderError) {
        guard engine.context.pause.end == nil else { throw ProviderError(.unavailable, "the drive is paused") }
        if let reason = engine.status.message { throw ProviderError(.unavailable, reason) }
    }
}
