/// What a query can ask of an item.
package enum QueryAttribute: String, Sendable, Hashable, CaseIterable {
    /// The item's own name.
    case name
    /// Below the drive's root.
    case path
    /// Bytes, whether the content is here or not; directories have none.
    case size
    /// `file`, `directory`, `symlink` and so on.
    case kind
    /// When the content last changed.
    case modified
    /// When it came to be; kept through safe-saves.
    case created
    /// When it came to the directory that it is in.
    case added
    /// When content or attributes last changed in the store.
    case changed
    /// An `ItemState`.
    case state
    case tags
    case container
    case pinned
    /// Something waits for upload.
    case dirty
    /// The provider has all of it.
    case uploaded
    /// It is a conflict copy, or has one beside it.
    case hasConflicts
    /// Only its attributes are here.
    case dataless
    /// Its content is on the way here.
    case downloading
    /// Its content is on the way to the provider.
    case uploading
    /// It is kept by a provider, or is to be.
    case ubiquitous
    /// Why it could not be uploaded or downloaded.
    case error
    case downloadingStatus
    /// A uniform type identifier: what the content is.
    case contentType
    /// The same, and all that it conforms to.
    case contentTypeTree
    /// What people call the type.
    case typeName
    /// The words of the document's text.
    case content

    /// What values it has.
    package enum Kind: Sendable {
        case text, number, date, flag
        /// Words that a document has or has not; there is no value to show or to order by.
        case words
    }

    package var kind: Kind {
        switch self {
        case .name, .path, .kind, .state, .tags, .container, .error, .downloadingStatus, .contentType, .contentTypeTree,
            .typeName:
            .text
        case .size: .number
        case .modified, .changed, .created, .added: .date
        case .pinned, .dirty, .uploaded, .hasConflicts, .dataless, .downloading, .uploading, .ubiquitous: .flag
        case .content: .words
        }
    }

    /// By its plain name, or by Apple's; upper and lower case are alike.
    package init?(named name: String) {
        guard let attribute = Self.byName[name.lowercased()] else { return nil }
        self = attribute
    }

    /// Apple's names (`MDItem.h`, `NSMetadataAttributes.h`) beside the plain ones.
    private static let appleNames: [String: QueryAttribute] = [
        "kMDItemFSName": .name, "kMDItemDisplayName": .name, "kMDItemPath": .path, "kMDItemFSSize": .size,
        "kMDItemFSCreationDate": .created, "kMDItemContentCreationDate": .created, "kMDItemDateAdded": .added,
        "kMDItemAttributeChangeDate": .changed, "kMDItemContentType": .contentType,
        "kMDItemContentTypeTree": .contentTypeTree, "kMDItemKind": .typeName, "kMDItemTextContent": .content,
        "kMDItemFSContentChangeDate": .modified, "kMDItemContentModificationDate": .modified, "kMDItemUserTags": .tags,
        "NSMetadataUbiquitousItemHasUnresolvedConflictsKey": .hasConflicts,
        "NSMetadataUbiquitousItemIsUploadedKey": .uploaded,
        "NSMetadataUbiquitousItemIsDownloadingKey": .downloading, "NSMetadataUbiquitousItemIsUploadingKey": .uploading,
        "NSMetadataItemIsUbiquitousKey": .ubiquitous, "NSMetadataUbiquitousItemUploadingErrorKey": .error,
        "NSMetadataUbiquitousItemDownloadingErrorKey": .error,
        "NSMetadataUbiquitousItemDownloadingStatusKey": .downloadingStatus,
        "NSMetadataUbiquitousItemContainerDisplayNameKey": .container,
    ]

    private static let byName = Dictionary(
        appleNames.map { ($0.key.lowercased(), $0.value) } + allCases.map { ($0.rawValue.lowercased(), $0) },
        uniquingKeysWith: { first, _ in first })
}
