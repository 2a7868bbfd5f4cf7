public import Foundation
import QuireCore
public import QuireThumbnails
import QuireTransport

/// What is known of an item whether or not its content is here (URLResourceValues of promised items).
public struct PromisedItemValues: Sendable {
    /// Whether newest content is here, an older one, or none.
    public enum DownloadingStatus: String, Sendable, Hashable {
        /// Only attributes are here.
        case notDownloaded
        /// A local copy is here, and a newer version follows.
        case downloaded
        /// The newest version that this device knows of is here.
        case current
    }

    /// The keys that were asked for and are known here.
    public private(set) var keys: Set<URLResourceKey> = []
    /// The item's name.
    public private(set) var name: String?
    /// Bytes of content.
    public private(set) var fileSize: Int?
    /// Bytes on this device; 0 while content is elsewhere.
    public private(set) var fileAllocatedSize: Int?
    /// When it came to be; kept through safe-saves.
    public private(set) var creationDate: Date?
    /// When it came to the directory that it is in.
    public private(set) var addedToDirectoryDate: Date?
    /// When content last changed.
    public private(set) var contentModificationDate: Date?
    /// When attributes last changed.
    public private(set) var attributeModificationDate: Date?
    /// Whether it is a directory.
    public private(set) var isDirectory: Bool?
    /// Whether it is a file.
    public private(set) var isRegularFile: Bool?
    /// Whether it is a symbolic link.
    public private(set) var isSymbolicLink: Bool?
    /// The directory that it is in.
    public private(set) var parentDirectory: URL?
    /// Whether its name begins with a dot.
    public private(set) var isHidden: Bool?
    /// Whether it is a directory that is one document.
    public private(set) var isPackage: Bool?
    /// What its content is, by name, or by content where the name says nothing and the content is here.
    public private(set) var contentType: ContentType?
    /// The identifier of `contentType`.
    public private(set) var typeIdentifier: String?
    /// What people call its type, in English.
    public private(set) var localizedTypeDescription: String?
    /// Another text where the content is another, or, of a directory, where something in it came, went or was renamed. Compare for
    /// equality alone. Nil while content is elsewhere.
    public private(set) var generationIdentifier: String?
    /// The same through moves and safe-saves, on this device.
    public private(set) var documentIdentifier: UInt64?
    /// What `user.quire.tags` holds.
    public private(set) var tagNames: [String]?
    /// Pictures of it as it is now, in PNG, of the sizes that there are in the user's thumbnail cache.
    public private(set) var thumbnailDictionary: [ThumbnailSize: Data]?
    /// Always, on a drive; false of what stays on this device.
    public private(set) var isUbiquitousItem: Bool?
    /// Whether there are conflict versions.
    public private(set) var ubiquitousItemHasUnresolvedConflicts: Bool?
    /// Which content is here.
    public private(set) var ubiquitousItemDownloadingStatus: DownloadingStatus?
    /// Whether content is on its way here.
    public private(set) var ubiquitousItemIsDownloading: Bool?
    /// Whether the provider has this content.
    public private(set) var ubiquitousItemIsUploaded: Bool?
    /// Whether content is on its way to the provider.
    public private(set) var ubiquitousItemIsUploading: Bool?
    /// 0 … 100: how much of the content is here.
    public private(set) var ubiquitousItemPercentDownloaded: Double?
    /// 0 … 100: how much of the content the provider has.
    public private(set) var ubiquitousItemPercentUploaded: Double?
    /// Why it could not be brought to the provider.
    public private(set) var ubiquitousItemUploadingError: QuireError?
    /// Why its content could not be brought here.
    public private(set) var ubiquitousItemDownloadingError: QuireError?
    /// Whether somebody wants its content here: it is on the way, or is to be here always.
    public private(set) var ubiquitousItemDownloadRequested: Bool?
    /// What people know the container by: its directory's name; the default container's is that of its provider.
    public private(set) var ubiquitousItemContainerDisplayName: String?

    init(_ info: ItemInfo, at url: URL, keys wanted: Set<URLResourceKey>) {
        let status = info.status
        func set<Value>(_ key: URLResourceKey, _ member: WritableKeyPath<Self, Value?>, _ value: Value?) {
            guard wanted.contains(key) else { return }
            keys.insert(key)
            self[keyPath: member] = value
        }
        set(.nameKey, \.name, url.lastPathComponent)
        set(.fileSizeKey, \.fileSize, Int(status.size))
        set(.contentModificationDateKey, \.contentModificationDate, Date(info.modified))
        set(.attributeModificationDateKey, \.attributeModificationDate, Date(info.changed))
        set(.isDirectoryKey, \.isDirectory, status.kind == .directory)
        set(.isRegularFileKey, \.isRegularFile, status.kind == .file)
        set(.isSymbolicLinkKey, \.isSymbolicLink, status.kind == .symlink)
        set(.documentIdentifierKey, \.documentIdentifier, UInt64(status.id.description, radix: 16))
        set(.tagNamesKey, \.tagNames, info.tags)
        set(.isUbiquitousItemKey, \.isUbiquitousItem, status.state != .localOnly)
        set(.ubiquitousItemHasUnresolvedConflictsKey, \.ubiquitousItemHasUnresolvedConflicts, !info.conflicts.isEmpty)
        set(
            .ubiquitousItemDownloadingStatusKey, \.ubiquitousItemDownloadingStatus,
            [.dataless, .partial].contains(status.state) || (status.state == .downloading && status.materialized == 0)
                ? .notDownloaded : status.state == .downloading ? .downloaded : .current)
        set(.ubiquitousItemIsDownloadingKey, \.ubiquitousItemIsDownloading, status.state == .downloading)
        set(
            .ubiquitousItemIsUploadedKey, \.ubiquitousItemIsUploaded,
            info.details.uploaded)
        set(.ubiquitousItemIsUploadingKey, \.ubiquitousItemIsUploading, status.state == .uploading)
        let error = info.error.map { QuireError(.failed, $0.message) }
        let isComing = [.dataless, .partial, .downloading].contains(status.state)
        set(.ubiquitousItemUploadingErrorKey, \.ubiquitousItemUploadingError, isComing ? nil : error)
        set(.ubiquitousItemDownloadingErrorKey, \.ubiquitousItemDownloadingError, isComing ? error : nil)
        set(
            .ubiquitousItemDownloadRequestedKey, \.ubiquitousItemDownloadRequested,
            status.state == .downloading || status.pinned)
        setDetails(info, at: url, keys: wanted)
        if wanted.contains(.thumbnailDictionaryKey) {
            set(.thumbnailDictionaryKey, \.thumbnailDictionary, ThumbnailCache.user.pictures(of: url))
        }
        // Tied to content: asked for it is known to be nothing.
        keys.formUnion(wanted.intersection([.contentAccessDateKey]))
    }

    private mutating func setDetails(_ info: ItemInfo, at url: URL, keys wanted: Set<URLResourceKey>) {
        let details = info.details
        func set<Value>(_ key: URLResourceKey, _ member: WritableKeyPath<Self, Value?>, _ value: Value?) {
            guard wanted.contains(key) else { return }
            keys.insert(key)
            self[keyPath: member] = value
        }
        set(.fileAllocatedSizeKey, \.fileAllocatedSize, Int(info.status.materialized))
        set(.creationDateKey, \.creationDate, Date(details.created))
        set(.addedToDirectoryDateKey, \.addedToDirectoryDate, Date(details.added))
        set(.parentDirectoryURLKey, \.parentDirectory, url.deletingLastPathComponent())
        set(.isHiddenKey, \.isHidden, url.lastPathComponent.hasPrefix("."))
        set(.isPackageKey, \.isPackage, details.typeTree.contains(ContentType.package.identifier))
        set(.typeIdentifierKey, \.typeIdentifier, details.type)
        set(.contentTypeKey, \.contentType, ContentType(details.type))
        set(.localizedTypeDescriptionKey, \.localizedTypeDescription, details.typeName)
        set(.generationIdentifierKey, \.generationIdentifier, details.generation)
        set(.percentDownloadedKey, \.ubiquitousItemPercentDownloaded, details.percentDownloaded)
        set(.percentUploadedKey, \.ubiquitousItemPercentUploaded, details.percentUploaded)
        set(.ubiquitousItemContainerDisplayNameKey, \.ubiquitousItemContainerDisplayName, details.containerName)
    }
}

extension URLResourceKey {
    /// The key of `PromisedItemValues.contentType`; Foundation on Linux has none.
    public static let contentTypeKey = URLResourceKey(rawValue: "NSURLContentTypeKey")
    /// By their values: not every version of Foundation has names for them.
    fileprivate static let percentDownloadedKey = URLResourceKey(rawValue: "NSURLUbiquitousItemPercentDownloadedKey")
    fileprivate static let percentUploadedKey = URLResourceKey(rawValue: "NSURLUbiquitousItemPercentUploadedKey")
}

extension URL {
    /// Values of an item of a drive, whether or not its content is here; nothing is downloaded, nobody is waited for.
    ///
    /// - Parameter keys: those that are not known here are left out.
    /// - Throws: `.notFound`; `.usage` for an item on no drive, `.unavailable` where it does not run.
    public func promisedItemResourceValues(
        forKeys keys: Set<URLResourceKey>
    ) async throws(QuireError) -> PromisedItemValues {
        try await LibraryExecutor.run { () throws(QuireError) in
            let location = try await ItemLocation.of(self)
            let info = try await location.session.connection.call(
                ItemMethods.Info.self, ItemMethods.Target(path: WirePath(location.path)))
            return PromisedItemValues(info, at: self, keys: keys)
        }
    }

    /// Whether there is an item, whether or not its content is here.
    ///
    /// - Throws: `.usage` for an item on no drive, `.unavailable` where it does not run.
    public func checkPromisedItemIsReachable() async throws(QuireError) -> Bool {
        try await LibraryExecutor.run { () throws(QuireError) in
            _ = try await ItemLocation.of(self)
            return ItemContent(path: try ItemLocation.path(of: self)).exists
        }
    }
}
