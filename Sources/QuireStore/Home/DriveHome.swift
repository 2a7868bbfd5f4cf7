import Glibc
package import QuireCore

/// The home directory of a drive, and where everything in it lies (design, "Layout on disk").
///
/// Only names things, unless a method says that it touches the disk. Content of `config.toml` and of the index is
/// others'.
package struct DriveHome: Sendable, Hashable {
    /// Absolute path without a trailing slash.
    package let path: String

    /// - Parameter path: absolute.
    package init(path: String) {
        precondition(path.hasPrefix("/"), "a home is named by an absolute path")
        let trimmed = path.utf8.reversed().drop { $0 == 0x2F }.reversed()
        self.path = String(decoding: Array(trimmed), as: UTF8.self)
    }

    package var configPath: String { path + "/config.toml" }
    /// The store: what the mount shows.
    package var storePath: String { path + "/drive" }
    package var dataRootPath: String { path + "/data" }
    package var indexPath: String { path + "/index.sqlite" }
    /// The words of documents, where they are kept.
    package var contentPath: String { path + "/content.sqlite" }
    package var stagingPath: String { path + "/staging" }
    /// Content that is here in parts.
    package var partialPath: String { path + "/partial" }
    /// The drive's own thumbnails.
    package var thumbnailsPath: String { path + "/thumbnails" }
    package var versionsPath: String { path + "/versions" }
    /// Of the embedded folder provider.
    package var providerPath: String { path + "/provider" }
    package var socketPath: String { path + "/daemon.sock" }
    package var pidPath: String { path + "/daemon.pid" }
    package var logPath: String { path + "/daemon.log" }

    /// A container's Data scope.
    package func dataPath(_ container: ContainerID) -> String { "\(dataRootPath)/\(container)" }

    package var staging: Staging { Staging(path: stagingPath) }
    package var keptVersions: KeptVersions { KeptVersions(path: versionsPath, staging: staging) }

    /// What `createLayout` found.
    package struct Layout: Sendable, Hashable {
        /// There was no home before.
        package var isNew: Bool
    }

    /// Creates what is missing of the home and its directories, each with mode 0700; leaves what is there as it is. That a store
    /// has vanished is for the index to find: it alone knows what was in it.
    ///
    /// - Throws: `.wrongKind` when something that is no directory is in the way; `.permissionDenied`; `.noSpace`.
    @discardableResult
    package func createLayout() throws(StoreError) -> Layout {
        let isNew = try HomeDirectory.create(path, withParents: true)
        for directory in [storePath, dataRootPath, stagingPath, partialPath, versionsPath, providerPath] {
            try HomeDirectory.create(directory)
        }
        return Layout(isNew: isNew)
    }

    /// Creates a container's Data scope, mode 0700, where it is missing.
    package func createDataDirectory(_ container: ContainerID) throws(StoreError) {
        try HomeDirectory.create(dataPath(container))
    }

    /// Opens the store.
    package func openStore() throws(StoreError) -> DriveTree { try DriveTree(opening: storePath) }
}

/// Directories of the home.
enum HomeDirectory {
    /// - Returns: whether it was made now.
    @discardableResult
    static func create(_ path: String, withParents: Bool = false) throws(StoreError) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        switch errno {
        case EEXIST:
            var raw = stat()
            try systemCall("read the attributes of", path) { stat(path, &raw) }
            guard FileStatus(raw).kind == .directory else {
                throw StoreError(
                    .wrongKind, "\(path) is in the way: it is not a directory", errno: ENOTDIR,
                    remedy: "Move it away, or choose another home with --home DIR")
            }
            return false
        case ENOENT where withParents:
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
                throw StoreError(errno: ENOENT, "create the directory", path)
            }
            try create(String(path[..<slash]), withParents: true)
            return try create(path)
        case let code:
            throw StoreError(errno: code, "create the directory", path)
        }
    }
}
