package import QuireCore

/// The documents that a `MemoryProvider` keeps.
package struct MemoryTree: Sendable {
    package enum Content: Sendable, Hashable {
        case file([UInt8])
        case symlink([UInt8])
        case directory
    }

    package struct Node: Sendable, Hashable {
        package var data: Content
        package var version: Int
        package var identifier: Int
        package var mtime: FileTime
        package var mode: UInt16
        package var tags: [String] = []

        /// The bytes of a file; nil for anything else.
        package var content: [UInt8]? {
            if case .file(let bytes) = data { bytes } else { nil }
        }

        package var kind: FileKind {
            switch data {
            case .file: .file
            case .symlink: .symlink
            case .directory: .directory
            }
        }
    }

    /// Everything but the root.
    package private(set) var nodes: [RelativePath: Node] = [:]
    /// What was at a path before, oldest first.
    private(set) var earlier: [RelativePath: [(item: RemoteItem, content: [UInt8])]] = [:]
    /// Counts every change.
    package private(set) var counter = 0
    /// Which storage this is; setting it plays another disk.
    package var identity = "memory-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    var isOnline = true
    /// Which names are one place.
    var folding: NameFolding = []
    var operations: [MemoryProvider.Operation] = []
    /// What it was when it was told, by the cursor that was given with it.
    var journal: [ChangeCursor: [RelativePath: Node]] = [:]
    /// By name, with the count of the change that stored them.
    var thumbnails: [String: (picture: [UInt8], stored: Int)] = [:]
    /// Counts the changes of thumbnails.
    var thumbnailCounter = 0

    init() {}

    /// Where something is that is asked for at `path`: by another name, where that is the same.
    private func resolved(_ path: RelativePath) -> RelativePath {
        guard !folding.isEmpty else { return path }
        return path.components.reduce(.root) { directory, name in
            let folded = FoldedName(name, folding)
            let there = nodes.keys.first { key in
                key.parent == directory && key.name.map { FoldedName($0, folding) } == folded
            }
            return there ?? directory.appending(name)
        }
    }

    /// Remembers what is at `path` as an earlier version.
    mutating func keepVersion(_ path: RelativePath, _ capabilities: ProviderCapabilities) {
        guard let item = item(at: path, capabilities), let content = nodes[path]?.content else { return }
        earlier[path, default: []].append((item, content))
    }

    /// Bytes of content.
    package var used: Int64 { nodes.values.reduce(0) { $0 + Int64($1.content?.count ?? 0) } }

    /// Writes a file, symlink or directory as another client would; missing parents are made.
    ///
    /// - Parameter mode: nil keeps the mode there is, else 0644 or, for a directory, 0755.
    package mutating func write(
        _ path: RelativePath, _ data: Content, mtime: FileTime = FileTime(nanoseconds: 1), mode: UInt16? = nil
    ) {
        if let parent = path.parent, !parent.isRoot, nodes[parent] == nil { write(parent, .directory, mtime: mtime) }
        place(path, data, mtime: mtime, mode: mode ?? nodes[path]?.mode ?? (data == .directory ? 0o755 : 0o644))
    }

    /// Writes a file of `text`.
    package mutating func write(_ path: RelativePath, _ text: String) { write(path, .file(Array(text.utf8))) }

    /// Removes the item at `path` with all below it.
    package mutating func remove(_ path: RelativePath) {
        counter += 1
        let path = resolved(path)
        for key in nodes.keys where key.isInside(path) { nodes[key] = nil }
    }

    /// Moves the item at `path` with all below it.
    package mutating func move(_ path: RelativePath, to destination: RelativePath) {
        counter += 1
        let path = resolved(path)
        let target = destination.parent.flatMap { parent in destination.name.map(resolved(parent).appending) }
        let destination = target ?? destination
        for (key, node) in nodes {
            guard let rest = key.removing(ancestor: path) else { continue }
            nodes[key] = nil
            nodes[destination.appending(rest)] = node
        }
    }

    mutating func place(
        _ path: RelativePath, _ data: Content, mtime: FileTime, mode: UInt16, tags: [String]? = nil
    ) {
        counter += 1
        let path = resolved(path)
        nodes[path] = Node(
            data: data, version: counter, identifier: nodes[path]?.identifier ?? counter, mtime: mtime,
            mode: mode & 0o777, tags: tags ?? nodes[path]?.tags ?? [])
    }

    /// Sets the tags of the item at `path`, as another client would.
    package mutating func setTags(_ path: RelativePath, _ tags: [String]) {
        guard let node = nodes[resolved(path)] else { return }
        setAttributes(path, RemoteAttributes(mtime: node.mtime, mode: node.mode, tags: tags))
    }

    mutating func setAttributes(_ path: RelativePath, _ attributes: RemoteAttributes) {
        counter += 1
        let path = resolved(path)
        nodes[path]?.mtime = attributes.mtime
        nodes[path]?.mode = attributes.mode & 0o777
        if let tags = attributes.tags { nodes[path]?.tags = tags }
        nodes[path]?.version = counter
    }

    func items(_ capabilities: ProviderCapabilities) -> [RemoteItem] {
        nodes.keys.compactMap { item(at: $0, capabilities) }
    }

    /// What is not as it was, and what is not there any more. A directory that is another is in both, with all below it told.
    func changes(
        since before: [RelativePath: Node], _ capabilities: ProviderCapabilities
    ) -> (changed: [RemoteItem], removed: [RelativePath]) {
        let removed = before.compactMap { path, node in nodes[path]?.identifier == node.identifier ? nil : path }
        let gone = Set(removed)
        let changed = nodes.compactMap { path, node in
            before[path] == node && !path.isInside(anyOf: gone) ? nil : item(at: path, capabilities)
        }
        return (changed, removed)
    }

    func item(at path: RelativePath, _ capabilities: ProviderCapabilities) -> RemoteItem? {
        if path.isRoot {
            return RemoteItem(
                path: path, kind: .directory, version: ProviderVersion("0"), size: .zero,
                mtime: FileTime(nanoseconds: 0))
        }
        guard let node = nodes[resolved(path)] else { return nil }
        var item = RemoteItem(
            path: path, kind: node.kind, version: ProviderVersion("\(node.version)"), size: .zero,
            mtime: capabilities.attributes ? node.mtime : FileTime(nanoseconds: Int64(node.version)),
            mode: capabilities.attributes && node.kind != .symlink ? node.mode : nil,
            identifier: capabilities.stableIdentifiers ? "\(node.identifier)" : nil,
            tags: capabilities.attributes ? node.tags : nil)
        switch node.data {
        case .file(let bytes): item.size = ByteCount(Int64(bytes.count))
        case .symlink(let target):
            item.size = ByteCount(Int64(target.count))
            item.symlinkTarget = target
        case .directory: break
        }
        return item
    }

    func present(_ path: RelativePath, _ capabilities: ProviderCapabilities) throws(ProviderError) -> RemoteItem {
        guard let item = item(at: path, capabilities) else { throw ProviderError.notFound(path) }
        return item
    }

    /// What `put` and its like demand of the place they write to.
    func check(_ path: RelativePath, _ expecting: Precondition) throws(ProviderError) {
        if let parent = path.parent, !parent.isRoot, nodes[resolved(parent)]?.kind != .directory {
            throw ProviderError(.parentMissing, "\(path) cannot be written: its directory is not there")
        }
        switch expecting {
        case .absent:
            if nodes[resolved(path)] != nil { throw ProviderError.refused(path) }
        case .version(let version):
            guard let node = nodes[resolved(path)], node.kind != .directory, "\(node.version)" == version.rawValue
            else {
                throw ProviderError.refused(path)
            }
        }
    }

    /// What calls on an item that is there demand of it.
    func expect(_ path: RelativePath, _ version: ProviderVersion?) throws(ProviderError) {
        guard let node = nodes[resolved(path)] else { throw ProviderError.notFound(path) }
        guard version.map({ $0.rawValue == "\(node.version)" }) ?? (node.kind == .directory) else {
            throw ProviderError.refused(path)
        }
    }

    static func unsupported(_ path: RelativePath, _ what: String) -> ProviderError {
        ProviderError(.unsupported, "\(path): this provider does not \(what)")
    }
}
