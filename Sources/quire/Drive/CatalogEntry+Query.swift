import QuireCore
import QuireIndex

extension CatalogEntry {
    /// What a query sees of an item; nil where it has nothing of the kind.
    ///
    /// - Parameter state: what the sync engine knows included.
    func value(of attribute: QueryAttribute, state: ItemState) -> QueryValue? {
        switch attribute {
        case .name: path.name.map { .text([$0.bytes]) }
        case .path: .text([path.bytes])
        case .size: .number(Double(size))
        case .kind: .text([Array(kind.rawValue.utf8)])
        case .modified: .date(mtime)
        case .changed: .date(ctime)
        case .state: .text([Array(state.rawValue.utf8)])
        case .tags: .text(tags.map { Array($0.utf8) })
        case .container: .text([Array("\(container)".utf8)])
        case .pinned: .flag(isPinned)
        case .dirty: .flag(isPending && state != .localOnly)
        case .uploaded: .flag(base != nil && !isPending)
        case .hasConflicts: .flag(state == .conflict)
        case .dataless: .flag(isDataless)
        case .downloadingStatus: .text([Array(downloadingStatus.utf8)])
        case .contentType: .text([Array(type.identifier.utf8)])
        case .contentTypeTree: .text(TypeCatalog.system.tree(type).map { Array($0.identifier.utf8) })
        case .typeName: type.localizedDescription.map { .text([Array($0.utf8)]) }
        }
    }

    /// `NSMetadataUbiquitousItemDownloadingStatus…` of NSMetadataAttributes.h. A copy that is here is always the newest known:
    /// what the provider has anew makes it dataless, or is here already.
    private var downloadingStatus: String {
        "NSMetadataUbiquitousItemDownloadingStatus" + (isDataless ? "NotDownloaded" : "Current")
    }
}
