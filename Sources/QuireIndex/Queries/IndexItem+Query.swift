package import QuireCore

extension IndexItem {
    /// What a query sees of an item; nil where it has nothing of the kind.
    ///
    /// - Parameter state: what the sync engine knows included.
    package func value(of attribute: QueryAttribute, state: ItemState) -> QueryValue? {
        switch attribute {
        case .name: path.name.map { .text([$0.bytes]) }
        case .path: .text([path.bytes])
        case .size: local.kind == .directory ? nil : .number(Double(local.size))
        case .kind: .text([Array(local.kind.rawValue.utf8)])
        case .modified: .date(local.mtime)
        case .changed: .date(local.ctime)
        case .created: .date(created)
        case .added: .date(added)
        case .state: .text([Array(state.rawValue.utf8)])
        case .tags: .text(tags.map { Array($0.utf8) })
        case .container: .text([Array(container.rawValue.utf8)])
        case .pinned: .flag(isPinned)
        case .dirty: .flag(!difference.isEmpty && state != .localOnly)
        case .uploaded: .flag(base != nil && difference.isEmpty)
        case .hasConflicts: .flag(state == .conflict)
        case .dataless: .flag(local.isDataless)
        case .downloading: .flag(state == .downloading)
        case .uploading: .flag(state == .uploading)
        case .ubiquitous: .flag(state != .localOnly)
        case .error: parked.map { .text([Array($0.message.utf8)]) }
        case .downloadingStatus:
            .text([Array(DownloadingStatusText(isHere: !local.isDataless).rawValue.utf8)])
        case .content: nil
        case .contentType, .contentTypeTree, .typeName: type.values(of: attribute).map { .text($0) }
        }
    }
}
