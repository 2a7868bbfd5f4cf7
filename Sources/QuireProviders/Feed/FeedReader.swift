import QuireCore

/// Answers "what changed since" from a feed and listings.
struct FeedReader: Sendable {
    /// Nil: everything is listed each time.
    let feed: ChangeFeed?
    /// The store's own; nil where it has none.
    var journal: (any ChangeJournal)?
    /// Lists everything.
    let list: @Sendable () async throws(ProviderError) -> [RemoteItem]
    /// Looks at one item. What cannot be told of it is unseen.
    let look: @Sendable (RelativePath) async throws(ProviderError) -> RemoteItem?

    /// Whether listings have the attributes that were uploaded.
    var listsAttributes = true
    /// Where listings have no attributes and looking at one document has: up to how many documents each is looked at when
    /// everything is listed for the first time.
    var mostLookedAtFirst = 0

    /// How many items are looked at together.
    private static let width = 8

    /// As `DocumentProvider.changes(since:)`.
    func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        guard let feed else {
            let (items, digest) = try await everything()
            return digest == cursor ? .none(next: digest) : .everything(items, next: digest)
        }
        let known = cursor.flatMap { FeedCursor($0) }
        if let journal { return try await changes(known, feed, journal) }
        guard let known, !feed.isListingDue else {
            let (news, position) = try await feed.newsBeforeListing(after: known?.position, readsBack: !listsAttributes)
            return try await everything(feed, known, news, position)
        }
        let (news, position) = try await feed.news(after: known.position)
        if news.isEverything { return try await everything(feed, known, news, position) }
        if news.changes.isEmpty {
            // Once somebody has undone what this device did, a listing is as it was before.
            let listing = news.hasOwn ? nil : known.listing
            return .none(next: FeedCursor(position: position, listing: listing).cursor)
        }
        let seen = try await seen(news.changes.values)
        return .changes(
            seen.compactMap(\.1), removed: seen.filter { $0.1 == nil }.map(\.0),
            next: FeedCursor(position: position, listing: nil).cursor)
    }

    /// What is now where devices changed something, with the attributes that they told.
    private func seen(
        _ changes: some Collection<AnnouncedChange> & Sendable
    ) async throws(ProviderError) -> [(path: RelativePath, item: RemoteItem?)] {
        try await forEach(changes, limit: Self.width) { (change) async throws(ProviderError) in
            (change.path, try await lookAlone(change.path).map { $0.mode == nil ? change.completing($0) : $0 })
        }
    }

    /// Looks at one item, which is unseen where this account may not: who told of it may.
    private func lookAlone(_ path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        do throws(ProviderError) { return try await look(path) } catch {
            guard error.code == .permissionDenied else { throw error }
            return .unseen(path, because: error.cause ?? error.message)
        }
    }

    // MARK: - with a journal

    /// One question where nothing is new: the journal tells of records, too.
    private func changes(
        _ known: FeedCursor?, _ feed: ChangeFeed, _ journal: any ChangeJournal
    ) async throws(ProviderError) -> RemoteChanges {
        if let known, let listing = known.listing, !feed.isListingDueBesideJournal,
            let news = try await journal.news(since: listing),
            let changes = try await joined(news, known.position, feed, journal)
        {
            return changes
        }
        let (news, position) = try await feed.newsBeforeListing(after: known?.position, readsBack: !listsAttributes)
        let start = feed.clock
        var (items, listing) = try await journal.list()
        feed.listed(since: start)
        Self.complete(&items, news)
        if known == nil { items = try await lookedAt(items) }
        return .everything(items, next: FeedCursor(position: position, listing: listing).cursor)
    }

    /// What the journal and the devices tell; nil where these want everything looked at.
    private func joined(
        _ news: JournalNews, _ position: FeedPosition, _ feed: ChangeFeed, _ journal: any ChangeJournal
    ) async throws(ProviderError) -> RemoteChanges? {
        var (position, items) = (position, news.items)
        var told: [AnnouncedChange] = []
        if !journal.tellsAttributes, news.records != .none {
            let last: Int? = if case .through(let last) = news.records { last } else { nil }
            let (records, reached) = try await feed.news(after: position, through: last)
            if records.isEverything { return nil }
            // The journal told after these were written: what it has is as new.
            let covered = last == nil ? [] : Set(items.map(\.path)).union(news.removed)
            told = records.changes.values.filter { !covered.contains($0.path) }
            Self.complete(&items, records)
            position = reached
        }
        var found = Dictionary(items.map { ($0.path, $0) }, uniquingKeysWith: { _, last in last })
        var removed = Set(news.removed)
        for (path, item) in try await seen(told) {
            if let item {
                found[path] = item
            } else {
                removed.insert(path)
                found = found.filter { !$0.key.isInside(path) }
            }
        }
        let next = FeedCursor(position: position, listing: news.next).cursor
        if found.isEmpty, removed.isEmpty { return .none(next: next) }
        return .changes(Array(found.values), removed: Array(removed), next: next)
    }

    // MARK: - listings

    private func everything(
        _ feed: ChangeFeed, _ known: FeedCursor?, _ news: ChangeFeed.News, _ position: FeedPosition
    ) async throws(ProviderError) -> RemoteChanges {
        let start = feed.clock
        var (items, digest) = try await everything()
        feed.listed(since: start)
        let next = FeedCursor(position: position, listing: digest).cursor
        // An earlier listing may have had a document before its record was there.
        let isCompleted = Self.complete(&items, news)
        if digest == known?.listing, !isCompleted, !news.hasOwn { return .none(next: next) }
        if known == nil { items = try await lookedAt(items) }
        return .everything(items, next: next)
    }

    /// Gives listed documents the attributes that were told of them; whether there were any.
    @discardableResult
    private static func complete(_ items: inout [RemoteItem], _ news: ChangeFeed.News) -> Bool {
        let told = news.changes.filter { $0.value.document != nil }
        guard !told.isEmpty else { return false }
        var isCompleted = false
        for index in items.indices where items[index].mode == nil {
            guard let item = told[items[index].path]?.completing(items[index]), item.mode != nil else { continue }
            items[index] = item
            isCompleted = true
        }
        return isCompleted
    }

    /// Documents with the attributes that only a look at each has.
    private func lookedAt(_ items: [RemoteItem]) async throws(ProviderError) -> [RemoteItem] {
        let unknown = items.filter { $0.kind == .file && $0.mode == nil && $0.unseen == nil }
        guard unknown.count <= mostLookedAtFirst else { return items }
        let seen = try await forEach(unknown, limit: Self.width) { (item) async throws(ProviderError) in
            do throws(ProviderError) { return try await lookAlone(item.path) ?? item } catch {
                // One that cannot be looked at (of another's key, damaged) keeps nothing else waiting; it is there all the same.
                guard [.failed, .unsupported, .corrupt].contains(error.code) else { throw error }
                return item
            }
        }
        let found = Dictionary(seen.map { ($0.path, $0) }) { first, _ in first }
        return items.map { item in
            // What changed meanwhile is found the next time.
            guard let now = found[item.path], now.kind == item.kind, now.version == item.version else { return item }
            return now
        }
    }

    private func everything() async throws(ProviderError) -> ([RemoteItem], ChangeCursor) {
        let items = try await list()
        var digest = ListingDigest()
        for item in items { digest.add(item) }
        return (items, digest.cursor)
    }
}
