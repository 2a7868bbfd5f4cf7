package import QuireCore
package import QuireIndex

/// What the provider has, as a tree, made of what it said and of the bases on which that depends.
package struct RemoteView: Sendable {
    /// Every item by its path.
    package private(set) var items: [RelativePath: RemoteItem]

    /// - Parameters:
    ///   - excluding: directories that are kept by other providers; what this one has there is left alone.
    ///   - unseen: where the provider has what it had, as far as is known, also below a directory that was made anew.
    package init(
        _ changes: BaseScope, bases: [TreeBase], excluding: [RelativePath] = [], unseen: UnseenPlaces = UnseenPlaces()
    ) {
        items = Dictionary(
            bases.map { ($0.record.path, RemoteItem($0.record)) }, uniquingKeysWith: { _, last in last })
        // Nothing lies below what is no directory any more, whether that was told or not.
        let replaced = changes.changed.lazy.filter { [items] in
            $0.kind != .directory && items[$0.path]?.kind == .directory
        }
        let gone = Set(changes.removed).union(replaced.map(\.path))
        if !gone.isEmpty { items = items.filter { path, _ in !path.isInside(anyOf: gone) || unseen.keeps(path) } }
        for item in changes.changed { items[item.path] = item }
        items[.root] = nil
        if !excluding.isEmpty { items = items.filter { path, _ in !excluding.contains { path.isInside($0) } } }
    }
}

extension RemoteItem {
    /// The item as it was when it was acknowledged.
    package init(_ base: BaseRecord) {
        self.init(
            path: base.path, kind: base.kind, version: base.version, size: ByteCount(max(0, base.size)),
            mtime: base.mtime,
            mode: base.mode, identifier: base.identifier, checksum: base.checksum, symlinkTarget: base.symlinkTarget,
            tags: base.tags)
    }
}
