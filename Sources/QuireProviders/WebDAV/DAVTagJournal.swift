import QuireCore
import Synchronization

/// A journal made of directories' entity tags, for servers where a change at any depth changes those of all directories above
/// it, as the probe has seen: only what has another tag is listed.
///
/// ```
///  /  e7 → e9      listed
///  ├─ a  e2        not asked for, nor anything below
///  └─ b  e5 → e8   listed
///     └─ c  e4     not asked for
/// ```
/// A tag is remembered as it was before the directory was listed, so what changes meanwhile is found by the next walk. The
/// cursor names a tree of tags in memory: one of another process has everything listed.
struct DAVTagJournal: ChangeJournal {
    let client: DAVClient
    let tellsAttributes: Bool
    /// Whether the server keeps stamps.
    let stamps: Bool
    let trees: DAVTagTrees
    /// Makes sure that the store is the one it was.
    let confirm: @Sendable () async throws(ProviderError) -> Void

    func list() async throws(ProviderError) -> (items: [RemoteItem], cursor: ChangeCursor?) {
        let (tree, items, _) = try await walk(DAVTagTree(), rootTag: try await client.tag(.root))
        try await confirm()
        return (items, trees.remember(tree, beside: nil))
    }

    func news(since cursor: ChangeCursor) async throws(ProviderError) -> JournalNews? {
        guard let known = trees.tree(of: cursor) else { return nil }
        guard let tag = try await client.tag(.root) else { return nil }
        if known[.root]?.tag == tag {
            return JournalNews(items: [], removed: [], next: cursor, records: .none)
        }
        let (tree, items, removed) = try await walk(known, rootTag: tag)
        if !removed.isEmpty { try await confirm() }
        let next = trees.remember(tree, beside: cursor)
        return JournalNews(items: items, removed: removed, next: next, records: .unknown)
    }

    private func walk(
        _ known: DAVTagTree, rootTag: String?
    ) async throws(ProviderError) -> (tree: DAVTagTree, items: [RemoteItem], removed: [RelativePath]) {
        var tree = known
        // What was seen before its directory was listed.
        var tags: [RelativePath: String] = [:]
        tags[.root] = rootTag
        var items: [RemoteItem] = []
        var removed: [RelativePath] = []
        // Of a directory that is not shown, nothing is noted: it is asked for again whenever its own directory is listed.
        let unseen = try await DAVWalk(client: client, stamps: stamps, listsAll: false).walk(from: [.root]) { listing in
            items += listing.items
            removed += tree.take(listing, tag: tags[listing.path])
            let changed = listing.directories.filter { directory in
                let tag = listing.tags[directory] ?? ""
                return tag.isEmpty || tree[directory]?.tag != tag
            }
            for directory in changed { tags[directory] = listing.tags[directory] }
            return changed
        }
        return (tree, items + unseen, removed)
    }
}

/// The trees of tags that cursors name.
final class DAVTagTrees: Sendable {
    private struct State {
        /// The one that was last asked about, and what came of it: who could not apply what was found asks from the first
        /// again.
        var known: [(cursor: ChangeCursor, tree: DAVTagTree)] = []
        var count = 0
    }

    /// Of this process.
    private let mark = "tags-\(String(UInt64.random(in: 0 ... .max), radix: 16))-"
    /// Innermost lock.
    private let state = Lock(State())

    /// The tree that a cursor names; nil where it is not known any more.
    func tree(of cursor: ChangeCursor) -> DAVTagTree? {
        state.withLock { $0.known.first { $0.cursor == cursor }?.tree }
    }

    /// Keeps a tree.
    ///
    /// - Parameter earlier: the cursor that it was made from, which stays; nil: the newest so far stays.
    func remember(_ tree: DAVTagTree, beside earlier: ChangeCursor?) -> ChangeCursor {
        state.withLock { state in
            state.count += 1
            let cursor = ChangeCursor("\(mark)\(state.count)")
            let kept = earlier.map { earlier in state.known.filter { $0.cursor == earlier } } ?? state.known.suffix(1)
            state.known = kept + [(cursor, tree)]
            return cursor
        }
    }
}

/// The tags that directories had, and what was in them then.
struct DAVTagTree: Sendable {
    struct Directory: Sendable {
        /// Empty where it had none.
        var tag: String
        var names: Set<FileName>
    }

    private var directories: [RelativePath: Directory] = [:]

    subscript(path: RelativePath) -> Directory? { directories[path] }

    /// Notes what a directory has in it now.
    ///
    /// - Parameter tag: of before it was listed.
    /// - Returns: what is not there any more, or is no directory any more.
    mutating func take(_ listing: DAVWalk.DirectoryListing, tag: String?) -> [RelativePath] {
        let names = Set(listing.items.lazy.compactMap(\.path.name))
        let gone = (directories[listing.path]?.names ?? []).subtracting(names).map(listing.path.appending)
        let replaced = listing.items.filter { $0.kind != .directory && directories[$0.path] != nil }
        let removed = gone + replaced.map(\.path)
        for path in removed { forget(path) }
        directories[listing.path] = Directory(tag: tag ?? "", names: names)
        return removed
    }

    private mutating func forget(_ path: RelativePath) {
        guard let directory = directories.removeValue(forKey: path) else { return }
        for name in directory.names { forget(path.appending(name)) }
    }
}

extension DAVClient {
    /// The entity tag of a directory, exactly as it came; nil where it has none.
    ///
    /// - Throws: `.unavailable` where it is not there.
    func tag(_ directory: RelativePath) async throws(ProviderError) -> String? {
        let body = directory.isRoot ? DAVBodies.root : DAVBodies.propfind
        guard let found = try await propfind(directory, depth: "0", isDirectory: true, body: body) else {
            throw DAVWalk.gone
        }
        return found.first { $0.path == directory }?.resource.entityTag
    }
}
