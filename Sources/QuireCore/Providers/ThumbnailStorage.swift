/// Room for thumbnails at a provider, apart from documents: in no listing of `changes`, in no document's place.
///
/// A provider that has it says so by being one, too. Nothing else depends on it: what is lost here is made again.
///
/// Whole or not at all, as documents; without conditions, the last one counts. Calls may come concurrently from any task and
/// none blocks a thread of the cooperative pool. All throw as `DocumentProvider`'s do where the storage is not there.
public protocol ThumbnailStorage: Sendable {
    /// Stores a picture, or replaces it.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 of `0-9a-f-`.
    ///   - picture: PNG, at most 8 MiB.
    /// - Throws: `.noSpace`; `.invalidName`.
    func putThumbnail(_ name: String, _ picture: [UInt8]) async throws(ProviderError)

    /// The picture of that name, nil where there is none. More than 8 MiB are `.corrupt`: others may write there, too.
    func thumbnail(_ name: String) async throws(ProviderError) -> [UInt8]?

    /// The pictures that are there; nil when nothing came or went since `cursor`.
    func thumbnails(since cursor: String?) async throws(ProviderError) -> ThumbnailListing?

    /// Removes a picture; nothing happens where there is none.
    func removeThumbnail(_ name: String) async throws(ProviderError)
}

/// What a provider has of thumbnails.
public struct ThumbnailListing: Sendable {
    /// One picture.
    public struct Entry: Sendable, Hashable {
        /// As it was stored.
        public var name: String
        /// Of the picture.
        public var size: ByteCount
        /// When it was stored, by the provider's clock.
        public var stored: FileTime

        /// All that is told of one.
        public init(name: String, size: ByteCount, stored: FileTime) {
            self.name = name
            self.size = size
            self.stored = stored
        }
    }

    /// In no order.
    public var entries: [Entry]
    /// For the next call.
    public var cursor: String

    /// A listing.
    public init(entries: [Entry], cursor: String) {
        self.entries = entries
        self.cursor = cursor
    }
}

extension ThumbnailStorage {
    /// Most bytes of one picture.
    package static var largestThumbnail: Int { 8 << 20 }

    /// Refuses what cannot be a name.
    package static func checkThumbnailName(_ name: String) throws(ProviderError) {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Array("0123456789abcdef-".utf8).contains) else {
            throw ProviderError(.invalidName, "\(name) is not a thumbnail's name")
        }
    }
}
