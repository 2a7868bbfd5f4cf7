import QuireCore

/// Where listing and records were read up to, as a provider's cursor.
struct FeedCursor {
    /// The last record that was read.
    var position: Int
    /// Of the listing, where that is known, or of the store's journal.
    var listing: ChangeCursor?

    var cursor: ChangeCursor { ChangeCursor("feed-\(position)/\(listing?.rawValue ?? "")") }

    init(position: Int, listing: ChangeCursor?) { (self.position, self.listing) = (position, listing) }

    /// Reads what `cursor` wrote; nil for others.
    init?(_ cursor: ChangeCursor) {
        let parts = cursor.rawValue.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("feed-"), let position = Int(parts[0].dropFirst(5)), position >= 0
        else { return nil }
        self.init(position: position, listing: parts[1].isEmpty ? nil : ChangeCursor(String(parts[1])))
    }
}
