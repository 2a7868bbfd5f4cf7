public import Foundation
import Glibc
import QuireCore
import QuireTransport

/// In a coordinated write of the document.
extension FileVersion {
    /// Ends the conflict: the version is among the kept ones from now on. Of one that is resolved nothing happens.
    ///
    /// - Throws: `.notFound` where there is no such version any more; `.usage`, `.unavailable` as of finding versions.
    public func resolve() async throws(QuireError) {
        guard !isResolved, let name else { return }
        try await change(VersionMethods.ResolveVersion.self, name)
        markResolved()
    }

    /// Removes the version for good.
    ///
    /// - Throws: `.usage` for the current one; `.notFound` where there is no such version any more.
    public func remove() async throws(QuireError) {
        guard let name else {
            throw QuireError(
                .usage, "\(localizedName): the current version is the document itself", remedy: "Delete the document")
        }
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
            let files = FileManager.default
            // Ephemeral by its name, and so the rename over the document is a write of the document.
            let staged = url.deletingLastPathComponent().appending(path: ".~quire-\(UUID().uuidString).tmp~")
            do {
                try files.copyItem(at: source, to: staged)
                try Self.rename(staged, over: url)
            } catch {
                // Not there where the copy failed at once.
                try? files.removeItem(at: staged)
                throw error
            }
        }
        if options.contains(.byMoving) { try await remove() }
        return url
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

    private static func rename(_ source: URL, over target: URL) throws {
        guard Glibc.rename(source.path, target.path) == 0 else {
            let code = errno
            throw CocoaError(
                .fileWriteUnknown,
                userInfo: [
                    NSFilePathErrorKey: target.path,
                    NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
                ])
        }
    }
}
