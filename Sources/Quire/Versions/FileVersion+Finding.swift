public import Foundation
import QuireCore
import QuireTransport
import Synchronization

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

    /// The versions that only the provider keeps, newest first; none where it keeps none. Their content is not here; see
    /// `download()`.
    ///
    /// - Throws: `.usage` for an item on no drive, `.unavailable` where it does not run, `.temporary` where the provider cannot
    ///   be reached.
    public static func nonlocalVersionsOfItem(at url: URL) async throws(QuireError) -> [FileVersion] {
        try await LibraryExecutor.run { () throws(QuireError) in
            let location = try await ItemLocation.of(url)
            return try await all(VersionMethods.NonlocalVersions.self, location).map { FileVersion(kept: $0, of: url) }
        }
    }

    /// The callback form of `nonlocalVersionsOfItem(at:)`.
    ///
    /// - Parameter completionHandler: called once, on any thread, with versions or an error.
    public static func getNonlocalVersionsOfItem(
        at url: URL, completionHandler: @escaping @Sendable ([FileVersion]?, (any Error)?) -> Void
    ) {
        // The callback form is the border at which asynchronous work begins.
        Task {
            do throws(QuireError) {
                completionHandler(try await nonlocalVersionsOfItem(at: url), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }

    /// Brings the content of a version that only the provider keeps. It is among the other versions from then on, and its
    /// presenters hear that they gained one.
    ///
    /// - Returns: the version, with the same identifier and a `url`; of one whose content is here, itself.
    /// - Throws: `.notFound` where there is no such version any more; `.temporary` where the provider cannot be reached;
    ///   `.usage` for an item on no drive, `.unavailable` where it does not run.
    public func download() async throws(QuireError) -> FileVersion {
        guard !hasLocalContents, let name else { return self }
        let item = itemURL
        return try await LibraryExecutor.run { () throws(QuireError) in
            let location = try await ItemLocation.of(item)
            let version = try await location.session.connection.call(
                VersionMethods.DownloadVersion.self,
                VersionMethods.Target(path: WirePath(location.path), version: name))
            return FileVersion(kept: version, of: item)
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
        let copies: [WirePath]
        do throws(QuireError) {
            copies = try await location.session.connection.call(ItemMethods.Info.self, target).conflicts
        } catch {
            guard error.code == .notFound else { throw error }
            copies = try await copiesOfMissing(location)
        }
        return copies.compactMap { copy in
            copy.path.name?.string.map { FileVersion(conflictCopy: $0, of: url) }
        }
    }

    /// While sync puts the local version aside for the provider's, nothing is at the document's place for a moment.
    private static func copiesOfMissing(_ location: ItemLocation) async throws(QuireError) -> [WirePath] {
        let found = Lock<[WirePath]>([])
        _ = try await location.session.connection.call(VersionMethods.Conflicts.self) { conflicts in
            let copies = conflicts.filter { $0.document.path == location.path }.map(\.path)
            found.withLock { $0 += copies }
        }
        return found.withLock { $0 }
    }

    private static func kept(of url: URL, _ location: ItemLocation) async throws(QuireError) -> [FileVersion] {
        do throws(QuireError) {
            return try await all(VersionMethods.Versions.self, location).map { FileVersion(kept: $0, of: url) }
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
    }

    /// Those of all parts, and of the answer.
    private static func all<Method: WireMethod>(
        _ method: Method.Type, _ location: ItemLocation
    ) async throws(QuireError) -> [VersionMethods.Version]
    where
        Method.Parameters == ItemMethods.Target, Method.Partial == [VersionMethods.Version],
        Method.Result == VersionMethods.Versions.Result
    {
        let parts = Lock<[VersionMethods.Version]>([])
        let target = ItemMethods.Target(path: WirePath(location.path))
        let last = try await location.session.connection.call(method, target) { part in
            parts.withLock { $0 += part }
        }
        return parts.withLock { $0 } + last.versions
    }
}
