import QuireCore

/// Where listing and records were read up to, as a provider's cursor: `feed-41-5b2f09c41d7e8a36/…`.
struct FeedCursor {
    /// The last record that was read.
    var position: FeedPosition
    /// Of the listing, where that is known, or of the store's journal.
    var listing: ChangeCursor?

    var cursor: ChangeCursor {
        let digest = position.digest.map { "-\($0)" } ?? ""
        return ChangeCursor("feed-\(position.number)\(digest)/\(listing?.rawValue ?? "")")
    }

    init(position: FeedPosition, listing: ChangeCursor?) { (self.position, self.listing) = (position, listing) }

    /// Reads what `cursor` wrote; nil for others.
    init?(_ cursor: ChangeCursor) {
        let parts = cursor.rawValue.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("feed-") else { return nil }
        let place = parts[0].dropFirst(5).split(separator: "-", maxSplits: 1)
        guard let first = place.first, let number = Int(first), number >= 0 else { return nil }
        self.init(
            position: FeedPosition(number, digest: place.count == 2 ? String(place[1]) : nil),
            listing: parts[1].isEmpty ? nil : ChangeCursor(String(parts[1])))
    }
}
