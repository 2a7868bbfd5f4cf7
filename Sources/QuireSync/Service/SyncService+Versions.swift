import Glibc
package import QuireCore

/// Earlier versions that a provider keeps by itself.
extension SyncService {
    /// The earlier versions of a document that its provider keeps, newest first; none where it is no provider for that.
    ///
    /// - Throws: `.temporary` where the provider cannot be reached.
    package func earlierVersions(of path: RelativePath) async throws(QuireError) -> [RemoteItem] {
        guard let place = try await keeper(of: path) else { return [] }
        do throws(ProviderError) {
            return try await place.context.provider.earlierVersions(of: place.path)
        } catch {
            guard error.code == .notFound else {
                throw QuireError(SyncFailure(place.context.container.remedied(error)))
            }
            return []
        }
    }

    /// Brings the content of an earlier version into the staging directory.
    ///
    /// - Parameter name: the version, as `earlierVersions` names it.
    /// - Returns: the absolute path of a file that the caller discards; nil where the provider keeps no such version.
    /// - Throws: `.temporary` where the provider cannot be reached.
    package func fetchEarlier(_ name: String, of path: RelativePath) async throws(QuireError) -> String? {
        guard let place = try await keeper(of: path),
            let item = try await earlierVersions(of: path).first(where: { $0.version.rawValue == name })
        else { return nil }
        do throws(SyncFailure) {
            return try await Downloader(context: place.context).fetchEarlier(item).stagedPath
        } catch {
            // The provider let it go after it was listed.
            if error.remedy == .look, error.errno == ENOENT { return nil }
            throw QuireError(error)
        }
    }

    /// Who keeps earlier versions of a document, and where; nil where nobody does.
    private func keeper(
        of path: RelativePath
    ) async throws(QuireError) -> (context: SyncContext, path: RelativePath)? {
        guard let context = engine(for: path)?.context, context.provider.capabilities.earlierVersions else {
            return nil
        }
        let item = try await reading { try await self.environment.index.item(drivePath: path) }
        return item?.base.map { (context, $0.path) }
    }
}
