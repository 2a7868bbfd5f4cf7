public import Foundation
import QuireCore
import QuireTransport

/// In a coordinated write of the document.
extension FileVersion {
    /// How a version is added.
    public struct AddingOptions: OptionSet, Hashable, Sendable {
        /// The bits, as Foundation's.
        public let rawValue: UInt

        /// Any combination of bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The file that the contents come from is gone afterwards.
        public static let byMoving = AddingOptions(rawValue: 1)
    }

    /// Keeps a file's contents as a version of a document. Its presenters hear that they gained one.
    ///
    /// - Parameters:
    ///   - url: the document; a file.
    ///   - contentsURL: what becomes the version: the document itself, or a file anywhere. One below
    ///     `temporaryDirectoryURLForNewVersionOfItem(at:)` is moved without being copied, with `.byMoving`.
    /// - Returns: the version, which is among the others from now on.
    /// - Throws: `.usage` for an item on no drive and for a document that is no file; `.notFound` where there is no document;
    ///   what reading the contents meets.
    @discardableResult
    public static func addOfItem(
        at url: URL, withContentsOf contentsURL: URL, options: AddingOptions = []
    ) async throws -> FileVersion {
        try await LibraryExecutor.run {
            let location = try await ItemLocation.of(url)
            let moves = options.contains(.byMoving)
            let staging = Self.staging(of: location.drive)
            let real = realPath(contentsURL.path) ?? ""
            let isStaged = moves && real.hasPrefix(staging.path + "/")
            let name = isStaged ? String(real.dropFirst(staging.path.count + 1)) : "version-\(UUID().uuidString)"
            let file = staging.appending(path: name, directoryHint: .notDirectory)
            do {
                if !isStaged { try FileManager.default.copyItem(at: contentsURL, to: file) }
                guard let place = RelativePath(parsing: name) else { throw CocoaError(.fileReadInvalidFileName) }
                let version = try await location.session.connection.call(
                    VersionMethods.AddVersion.self, .init(path: WirePath(location.path), file: WirePath(place)))
                if moves, !isStaged { try FileManager.default.removeItem(at: contentsURL) }
                return FileVersion(kept: version, of: url)
            } catch {
                // Not there where the copy failed, or where it is a version already.
                if !isStaged { try? FileManager.default.removeItem(at: file) }
                throw error
            }
        }
    }

    /// A new directory for a file that is to become a version: on the file system where versions are. The app removes it; what
    /// it leaves goes when the drive is next started.
    ///
    /// - Throws: `.usage` for an item on no drive; `CocoaError` where it cannot be made.
    public static func temporaryDirectoryURLForNewVersionOfItem(at url: URL) async throws -> URL {
        try await LibraryExecutor.run {
            let directory = Self.staging(of: try await ItemLocation.of(url).drive).appending(
                path: "version-\(UUID().uuidString)", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            return directory
        }
    }

    private static func staging(of drive: Drive) -> URL {
        URL(filePath: realPath(drive.home) ?? drive.home, directoryHint: .isDirectory).appending(
            path: "staging", directoryHint: .isDirectory)
    }
}
