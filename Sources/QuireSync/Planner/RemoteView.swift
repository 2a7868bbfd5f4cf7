package import QuireCore

/// What the provider has, as a whole tree, made of its answer and of the bases.
package struct RemoteView: Sendable {
    /// Every item by its path.
    package private(set) var items: [RelativePath: RemoteItem]

    /// Nil for `.none`.
    /// - Parameter excluding: directories that are kept by other providers; what this one has there is left alone.
    package init?(_ changes: RemoteChanges, bases: [TreeBase], excluding: [RelativePath] = []) {
        switch changes {
        case .none: return nil
        case .everything(let listing, _):
            items = Dictionary(listing.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
        case .changes(let changed, let removed, _):
            items = Dictionary(
                bases.map { ($0.record.path, RemoteItem($0.record)) }, uniquingKeysWith: { _, last in last })
            let gone = Set(removed)
            if !gone.isEmpty { items = items.filter { path, _ in !Self.lies(path, in: gone) } }
            for item in changed { items[item.path] = item }
        }
        items[.root] = nil
        if !excluding.isEmpty { items = items.filter { path, _ in !excluding.contains { path.isInside($0) } } }
    }

    private static func lies(_ path: RelativePath, in removed: Set<RelativePath>) -> Bool {
        var current: RelativePath? = path
        while let candidate = current {
            if removed.contains(candidate) { return true }
            current = candidate.parent
        }
        return false
    }
}

extension RemoteItem {
    /// The item as it was when it was acknowledged.
    package init(_ base: BaseRecord) {
        self.init(
            path: base.path, kind: base.kind, version: base.version, size: ByteCount(max(0, base.size)),
            mtime: base.mtime,
            mode: base.mode, identifier: base.identifier, checksum: base.checksum, symlinkTarget: base.symlinkTarget)
    }
}
