public import Foundation
import QuireCore
import Synchronization

/// A result of a query: what the drive's index knows of one document. Nothing is asked of its content, which may be elsewhere.
///
/// The same object stands for the same document as long as the query runs, through changes and moves. From any thread.
public final class MetadataItem: Sendable, Identifiable {
    private struct State {
        var record: QueryMethods.ItemRecord
        var url: URL
    }

    /// The document's, on this device: the same through moves and safe-saves.
    public let id: UInt64
    // Taken alone.
    private let state: Lock<State>

    init(_ record: QueryMethods.ItemRecord, on mount: MountPath) {
        id = UInt64(bitPattern: record.status.id.rawValue)
        state = Lock(State(record: record, url: mount.url(record.status.path.path)))
    }

    func update(_ record: QueryMethods.ItemRecord, on mount: MountPath) {
        state.withLock { $0 = State(record: record, url: mount.url(record.status.path.path)) }
    }

    private var record: QueryMethods.ItemRecord { state.withLock { $0.record } }

    /// Where it is on the mount.
    public var url: URL { state.withLock { $0.url } }
    /// Its name.
    public var name: String { url.lastPathComponent }
    /// Below the drive's root.
    public var path: String { "\(record.status.path.path)" }
    /// Bytes of content; nil for a directory.
    public var size: Int64? { record.status.kind == .directory ? nil : record.status.size }
    /// When content last changed.
    public var contentModificationDate: Date { Date(record.modified) }
    /// When attributes last changed.
    public var attributeModificationDate: Date { Date(record.changed) }
    /// When it came to be; kept through safe-saves.
    public var creationDate: Date { Date(record.created) }
    /// When it came to the directory that it is in.
    public var addedToDirectoryDate: Date { Date(record.added) }
    /// What its content is.
    public var contentType: ContentType { ContentType(record.type) ?? .data }
    /// Its type and all that it conforms to, nearer ones first.
    public var contentTypeTree: [String] { record.typeTree }
    /// `user.quire.tags`.
    public var tags: [String] { record.tags }
    /// How it stands.
    public var itemState: ItemState { record.status.state }
    /// Whether the provider has all of it.
    public var isUploaded: Bool { record.uploaded }
    /// Whether only its attributes are here.
    public var isDataless: Bool { record.dataless }
    /// Whether it is a conflict copy, or has one beside it.
    public var hasUnresolvedConflicts: Bool { record.status.state == .conflict }

    /// Names of attributes that `value(forAttribute:)` knows, by Apple's names.
    public static let attributes = values.keys.sorted()

    /// The value of an attribute by Apple's name (`kMDItemFSName`, `NSMetadataUbiquitousItemIsUploadedKey`, …): a text, texts, a
    /// number, a date or a flag. Nil where the item has none, or the name is not known.
    public func value(forAttribute name: String) -> MetadataValue? { Self.values[name].flatMap { $0(self) } }

    private static let values: [String: @Sendable (MetadataItem) -> MetadataValue?] = [
        "kMDItemFSName": { .text($0.name) }, "kMDItemDisplayName": { .text($0.name) },
        "kMDItemURL": { .text($0.url.absoluteString) }, "kMDItemPath": { .text($0.url.path(percentEncoded: false)) },
        "kMDItemFSSize": { $0.size.map { .number(Double($0)) } },
        "kMDItemFSCreationDate": { .date($0.creationDate) }, "kMDItemDateAdded": { .date($0.addedToDirectoryDate) },
        "kMDItemFSContentChangeDate": { .date($0.contentModificationDate) },
        "kMDItemContentModificationDate": { .date($0.contentModificationDate) },
        "kMDItemContentType": { .text($0.contentType.identifier) },
        "kMDItemContentTypeTree": { .texts($0.contentTypeTree) },
        "kMDItemKind": { $0.contentType.localizedDescription.map { .text($0) } },
        "kMDItemUserTags": { .texts($0.tags) },
        "NSMetadataItemIsUbiquitousKey": { .flag($0.itemState != .localOnly) },
        "NSMetadataUbiquitousItemHasUnresolvedConflictsKey": { .flag($0.hasUnresolvedConflicts) },
        "NSMetadataUbiquitousItemIsUploadedKey": { .flag($0.isUploaded) },
        "NSMetadataUbiquitousItemIsUploadingKey": { .flag($0.itemState == .uploading) },
        "NSMetadataUbiquitousItemIsDownloadingKey": { .flag($0.itemState == .downloading) },
        "NSMetadataUbiquitousItemIsExternalDocumentKey": { _ in .flag(false) },
        "NSMetadataUbiquitousItemDownloadRequestedKey": {
            .flag($0.itemState == .downloading || $0.record.status.pinned)
        },
        "NSMetadataUbiquitousItemDownloadingStatusKey": {
            .text(DownloadingStatusText(isHere: !$0.isDataless).rawValue)
        },
        "NSMetadataUbiquitousItemContainerDisplayNameKey": { .text($0.record.containerName) },
    ]
}

extension MetadataItem: Hashable {
    /// Whether both are one object.
    public static func == (left: MetadataItem, right: MetadataItem) -> Bool { left === right }
    /// Of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// An attribute's value.
public enum MetadataValue: Sendable, Hashable {
    case text(String)
    /// Compared as their texts one after the other.
    case texts([String])
    case number(Double)
    case date(Date)
    case flag(Bool)

    /// Whether it comes before another in ascending order; nil where they are alike, or cannot be compared.
    func precedes(_ other: MetadataValue) -> Bool? {
        switch (self, other) {
        case (.text(let left), .text(let right)):
            let order = left.compare(right, options: [.caseInsensitive, .numeric])
            return order == .orderedSame ? nil : order == .orderedAscending
        case (.texts(let left), .texts(let right)): return left == right ? nil : left.lexicographicallyPrecedes(right)
        case (.number(let left), .number(let right)): return left == right ? nil : left < right
        case (.date(let left), .date(let right)): return left == right ? nil : left < right
        case (.flag(let left), .flag(let right)): return left == right ? nil : !left
        default: return nil
        }
    }
}
