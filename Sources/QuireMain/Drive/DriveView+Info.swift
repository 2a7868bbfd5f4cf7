import QuireCore
import QuireStore
import QuireSync

extension DriveView {
    /// All metadata of one item: of the index, the store's directory and what is under way. Content is not looked at, and
    /// nothing is downloaded.
    func info(at path: RelativePath) async throws -> ItemInfo {
        let entry = try await entry(at: path)
        let error = entry.error.map { message in
            DriveStatus.Problem(
                path: WirePath(path), message: message, since: WireTime(entry.errorSince ?? entry.ctime))
        }
        return ItemInfo(
            status: status(entry), details: try await details(entry), modified: WireTime(entry.mtime),
            changed: WireTime(entry.ctime), mode: String(entry.mode, radix: 8), tags: entry.tags,
            checksum: entry.isPending ? nil : entry.base?.checksum,
            conflicts: try await copies(of: path).map(WirePath.init), error: error,
            symlinkTarget: try await symlinkTarget(entry))
    }

    func details(_ entry: CatalogEntry) async throws -> ItemDetails {
        let isUploaded = entry.base != nil && !entry.isPending
        let progress = progress(entry.id)
        func percent(_ direction: Transfer.Direction, isDone: Bool) -> Double {
            guard let progress, progress.direction == direction, progress.total.bytes > 0 else {
                return isDone ? 100 : 0
            }
            return min(100, Double(progress.done.bytes) * 100 / Double(progress.total.bytes))
        }
        return ItemDetails(
            created: WireTime(entry.created), added: WireTime(entry.added), generation: try await generation(entry),
            type: entry.type.identifier, typeTree: TypeCatalog.system.tree(entry.type).map(\.identifier),
            typeName: entry.type.localizedDescription, uploaded: isUploaded,
            percentDownloaded: percent(.download, isDone: !entry.isDataless),
            percentUploaded: percent(.upload, isDone: isUploaded), containerName: containerName(entry.container))
    }

    /// The store's directory has another time when an entry comes, goes or is renamed.
    func generation(_ entry: CatalogEntry) async throws -> String? {
        guard !entry.isDataless else { return nil }
        guard entry.kind == .directory else { return "\(entry.id)-\(String(entry.generation, radix: 16))" }
        let tree = tree
        let status = try await Blocking.run { () throws(StoreError) in try tree.status(at: entry.path) }
        return status.map { "\(entry.id)-\(String($0.mtime.nanoseconds, radix: 16))" }
    }

    private func symlinkTarget(_ entry: CatalogEntry) async throws -> String? {
        guard entry.kind == .symlink else { return nil }
        let tree = tree
        let target = try await Blocking.run { () throws(StoreError) in try tree.readLink(entry.path) }
        return DisplayBytes.escaped(target)
    }
}
