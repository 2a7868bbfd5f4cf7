import QuireCore

/// Answers "what changed since" from a feed and listings.
struct FeedReader: Sendable {
    /// Nil: everything is listed each time.
    let feed: ChangeFeed?
    /// Lists everything.
    let list: @Sendable () async throws(ProviderError) -> [RemoteItem]
    /// Looks at one item.
    let look: @Sendable (RelativePath) async throws(ProviderError) -> RemoteItem?

    /// How many items are looked at together.
    private static let width = 8

    /// As `DocumentProvider.changes(since:)`.
    func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        guard let feed else {
            let (items, digest) = try await everything()
            return digest == cursor ? .none(next: digest) : .everything(items, next: digest)
        }
        let known = cursor.flatMap { FeedCursor($0) }
        guard let known, !feed.isListingDue else {
            let position = try await feed.position(after: known?.position)
            return try await everything(feed, known, position)
        }
        let (news, position) = try await feed.news(after: known.position)
        switch news {
        case .everything: return try await everything(feed, known, position)
        case .paths(let paths):
            if paths.isEmpty { return .none(next: FeedCursor(position: position, listing: known.listing).cursor) }
            let seen = try await forEach(paths, limit: Self.width) { [look] (path) async throws(ProviderError) in
                (path, try await look(path))
            }
            return .changes(
                seen.compactMap(\.1), removed: seen.filter { $0.1 == nil }.map(\.0),
                next: FeedCursor(position: position, listing: nil).cursor)
        }
    }

    private func everything(
        _ feed: ChangeFeed, _ known: FeedCursor?, _ position: Int
    ) async throws(ProviderError) -> RemoteChanges {
        let start = feed.clock
        let (items, digest) = try await everything()
        feed.listed(since: start)
        let next = FeedCursor(position: position, listing: digest).cursor
        return digest == known?.listing ? .none(next: next) : .everything(items, next: next)
    }

    private func everything() async throws(ProviderError) -> ([RemoteItem], ChangeCursor) {
        let items = try await list()
        var digest = ListingDigest()
        for item in items { digest.add(item) }
        return (items, digest.cursor)
    }
}
