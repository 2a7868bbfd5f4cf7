public import Foundation
import QuireCore
import QuireTransport

extension FileVersion {
    /// The version that is there; nil where nothing is.
    public static func currentVersionOfItem(at url: URL) async throws(QuireError) -> FileVersion? {
        _ = try await Drive.containing(url)
        return await LibraryExecutor.run { FileVersion(currentOf: url) }
    }

    /// All other versions: conflicts that are not resolved, then kept ones, newest first.
    ///
    /// - Throws: `.usage` for an item on no drive, `.unavailable` where it does not run.
    public static func otherVersionsOfItem(at url: URL) async throws(QuireError) -> [FileVersion] {
        try await LibraryExecutor.run { () throws(QuireError) in
            let location = try await ItemLocation.of(url)
            return try await conflicts(of: url, location) + kept(of: url, location)
        }
    }

    /// The versions in conflict with the current one.
    ///
    /// - Throws: `.usage` for an item on no drive, `.unavailable` where it does not run.
    public static func unresolvedConflictVersionsOfItem(at url: URL) async throws(QuireError) -> [FileVersion] {
        try await LibraryExecutor.run { () throws(QuireError) in
            try await conflicts(of: url, try await ItemLocation.of(url))
        }
    }

    /// The version with this identifier; nil where there is none any more.
    ///
    /// - Throws: `.usage` for an item on no drive, `.unavailable` where it does not run.
    public static func version(
        itemAt url: URL, forPersistentIdentifier identifier: PersistentIdentifier
    ) async throws(QuireError) -> FileVersion? {
        guard identifier.name != nil else { return try await currentVersionOfItem(at: url) }
        return try await otherVersionsOfItem(at: url).first { $0.persistentIdentifier == identifier }
    }

    private static func conflicts(of url: URL, _ location: ItemLocation) async throws(QuireError) -> [FileVersion] {
        let target = ItemMethods.Target(path: WirePath(location.path))
        let info: ItemInfo
        do throws(QuireError) {
            info = try await location.session.connection.call(ItemMethods.Info.self, target)
        } catch {
            // Nothing is there, and so nothing is in conflict with it.
            guard error.code == .notFound else { throw error }
            return []
        }
        return info.conflicts.compactMap { copy in
            copy.path.name?.string.map { FileVersion(conflictCopy: $0, of: url) }
        }
    }

    private static func kept(of url: URL, _ location: ItemLocation) async throws(QuireError) -> [FileVersion] {
        let target = ItemMethods.Target(path: WirePath(location.path))
        do throws(QuireError) {
            return try await location.session.connection.call(VersionMethods.Versions.self, target).versions.map {
                FileVersion(kept: $0, of: url)
            }
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
    }
}
