import QuireCore

/// A journal by the tokens of RFC 6578: one REPORT tells what changed below the account's root, whoever changed it.
///
/// The cursor is the token, which stays good across restarts. A server that knows it no more has everything listed.
struct DAVSyncJournal: ChangeJournal {
    let client: DAVClient
    let tellsAttributes: Bool
    /// Whether the server keeps stamps.
    let stamps: Bool
    /// Lists everything.
    let listAll: @Sendable () async throws(ProviderError) -> [RemoteItem]
    /// Makes sure that the store is the one it was.
    let confirm: @Sendable () async throws(ProviderError) -> Void
    /// The server does not answer such questions any more.
    let withdraw: @Sendable (HTTPAnswer) -> Void

    private static let mark = "sync-"

    func list() async throws(ProviderError) -> (items: [RemoteItem], cursor: ChangeCursor?) {
        let token = try await client.syncToken()
        return (try await listAll(), token.map(Self.cursor))
    }

    func news(since cursor: ChangeCursor) async throws(ProviderError) -> JournalNews? {
        guard cursor.rawValue.hasPrefix(Self.mark) else { return nil }
        var collected = DAVSyncChanges(stamps: stamps)
        var token = String(cursor.rawValue.dropFirst(Self.mark.count))
        var isCut = true
        while isCut {
            switch try await client.changes(since: token) {
            case .expired: return nil
            case .refused(let answer):
                withdraw(answer)
                return nil
            case .changes(let found, let next, let isMore):
                guard !isMore || next != token else {
                    throw ProviderError(.failed, "\(client.address.place): the server's report does not end")
                }
                try collected.add(found)
                (token, isCut) = (next, isMore)
            }
        }
        // What is in a directory that is gone is not there: the report is of two moments. And below what it does not show
        // anything may have changed.
        guard collected.isSound else { return nil }
        // It may have come with all that is in it, or be another than before, of which not all servers tell more.
        let directories = collected.uppermostDirectories
        collected.replace(
            directories, try await DAVWalk(client: client, stamps: stamps, listsAll: false).list(in: directories))
        if !collected.removed.isEmpty { try await confirm() }
        return JournalNews(
            items: Array(collected.items.values), removed: Array(collected.removed), next: Self.cursor(token),
            records: collected.record.map { .through($0) } ?? .none)
    }

    private static func cursor(_ token: String) -> ChangeCursor { ChangeCursor("\(mark)\(token)") }
}

/// What the parts of a report add up to.
struct DAVSyncChanges {
    let stamps: Bool
    private(set) var items: [RelativePath: RemoteItem] = [:]
    private(set) var removed: Set<RelativePath> = []
    /// The highest number of a record of devices.
    private(set) var record: Int?

    /// Adds the next part.
    ///
    /// - Throws: where the server is in trouble.
    mutating func add(_ found: [(path: RelativePath, resource: DAVResource)]) throws(ProviderError) {
        let gone = Set(found.lazy.filter { $0.resource.status == 404 }.map(\.path))
        // What earlier parts told of what has gone since.
        if !items.isEmpty, !gone.isEmpty { items = items.filter { !$0.key.isInside(anyOf: gone) } }
        for (path, resource) in found where !path.isRoot {
            if path.isInside(StoreLayout.control) {
                guard resource.status != 404, path.parent == StoreLayout.changes else { continue }
                if let number = path.name.flatMap(StoreLayout.changeNumber) { record = max(record ?? 0, number) }
            } else if resource.status == 404 {
                removed.insert(path)
            } else {
                items[path] = try resource.seen(path, stamps: stamps)
                removed.remove(path)
            }
        }
    }

    /// Puts what is in directories now in the place of all that was.
    mutating func replace(_ directories: [RelativePath], _ listed: [RemoteItem]) {
        guard !directories.isEmpty else { return }
        let replaced = Set(directories)
        items = items.filter { replaced.contains($0.key) || !$0.key.isInside(anyOf: replaced) }
        removed = removed.filter { !$0.isInside(anyOf: replaced) }.union(replaced)
        for item in listed { items[item.path] = item }
    }

    /// Whether nothing is there whose directory is gone, and nothing unseen.
    var isSound: Bool { items.values.allSatisfy { $0.unseen == nil && !$0.path.isInside(anyOf: removed) } }

    /// Directories that are told of; of such within one another, the uppermost.
    var uppermostDirectories: [RelativePath] {
        let told = Set(items.values.lazy.filter { $0.kind == .directory && $0.unseen == nil }.map(\.path))
        return told.filter { path in !(path.parent?.isInside(anyOf: told) ?? false) }
    }
}
