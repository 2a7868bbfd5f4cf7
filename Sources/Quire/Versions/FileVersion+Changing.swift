public import Foundation
import QuireCore
import QuireTransport

/// In a coordinated write of the document.
extension FileVersion {
    /// Ends the conflict: the version is among the kept ones from now on; a package is a document of its own beside the other.
    /// Of one that is resolved nothing happens.
    ///
    /// - Throws: `.notFound` where there is no such version any more; `.usage`, `.unavailable` as of finding versions.
    public func resolve() async throws(QuireError) {
        guard !isResolved, let name else { return }
        try await change(VersionMethods.ResolveVersion.self, name)
        markResolved()
    }

    /// Lets the drive remove the version when room is short: while less than a twentieth of the home's file system is free, the
    /// oldest first. There is no way back.
    ///
    /// - Throws: `.usage` for the current version and for one that is in conflict; `.notFound` where it is gone.
    public func makeDiscardable() async throws(QuireError) {
        guard let name, isResolved else {
            throw QuireError(
                .usage, "\(localizedName): only a version that was kept is discardable",
                remedy: name == nil ? "Delete the document" : "Resolve the conflict first")
        }
        try await change(VersionMethods.DiscardVersion.self, name)
        markDiscardable()
    }

    /// Removes the version for good.
    ///
    /// - Throws: `.usage` for the current one; `.notFound` where there is no such version any more.
    public func remove() async throws(QuireError) {
        guard let name else {
            throw QuireError(
                .usage, "\(localizedName): the current version is the document itself", remedy: "Delete the document")
        }
        if try await removedPackage() { return }
        try await change(VersionMethods.RemoveVersion.self, name)
    }

    /// Removes all versions but the current one and those in conflict with it.
    ///
    /// - Throws: as `remove()`; some may be gone then.
    public static func removeOtherVersionsOfItem(at url: URL) async throws(QuireError) {
        for version in try await otherVersionsOfItem(at: url) where version.isResolved { try await version.remove() }
    }

    /// How an item is replaced.
    public struct ReplacingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as Foundation's.
        public let rawValue: UInt

        /// Any combination of bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The version is removed afterwards.
        public static let byMoving = ReplacingOptions(rawValue: 1)
    }

    /// Makes the version's content that of an item, in one step; the item is made where there is none. Its name stays.
    ///
    /// - Parameter url: the document, or another place on the drive.
    /// - Returns: `url`.
    /// - Throws: `.notFound` for a version that is gone; what copying meets; `.usage` for the current version and `.byMoving`.
    @discardableResult
    public func replaceItem(at url: URL, options: ReplacingOptions = []) async throws -> URL {
        guard let source = self.url else {
            throw QuireError(.notFound, "\(localizedName): the version is gone", remedy: "Ask for its versions again")
        }
        guard name != nil || !options.contains(.byMoving) else {
            throw QuireError(
                .usage, "\(localizedName): the current version cannot be moved", remedy: "Move the document")
        }
        try await LibraryExecutor.run {
            try DocumentFile(url: url).replace(withCopyOf: source)
        }
        if options.contains(.byMoving) { try await remove() }
        return url
    }

    /// A package in conflict is an item beside the other, and is deleted as one.
    ///
    /// - Returns: whether it was one.
    private func removedPackage() async throws(QuireError) -> Bool {
        guard let url, !isResolved else { return false }
        return try await LibraryExecutor.run { () throws(QuireError) in
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), isDirectory.boolValue
            else { return false }
            do {
                try FileManager.default.removeItem(at: url)
                return true
            } catch {
                throw QuireError(.failed, "\(url.path) cannot be removed: \(error.localizedDescription)")
            }
        }
    }

    private func change<Method: WireMethod>(
        _ method: Method.Type, _ name: String
    ) async throws(QuireError) where Method.Parameters == VersionMethods.Target {
        let item = itemURL
        _ = try await LibraryExecutor.run { () throws(QuireError) in
            let location = try await ItemLocation.of(item)
            return try await location.session.connection.call(
                method, VersionMethods.Target(path: WirePath(location.path), version: name))
        }
    }
}
