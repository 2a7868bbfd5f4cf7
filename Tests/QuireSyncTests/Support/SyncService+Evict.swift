import QuireCore
import QuireSync

extension SyncService {
    /// As `evictAll`, of what is to go as a whole.
    ///
    /// - Throws: why the first file stays.
    @discardableResult
    func evict(_ path: RelativePath) async throws(QuireError) -> Int {
        let eviction = try await evictAll(path)
        if let refusal = eviction.refused.first { throw refusal.error }
        return eviction.files
    }
}
