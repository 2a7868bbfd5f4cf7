import QuireCore
import Synchronization

/// Directories that programs are in the midst of listing.
///
/// The kernel opens and closes directories without asking (OPENDIR is answered with ENOSYS), and names a position with each
/// READDIR. The stream that stopped there is kept for the next one; of those that nobody came back to, the oldest go.
final class Listings: Sendable {
    private let streams = Lock<[DirectoryStream]>([])

    /// So many are kept; each holds a descriptor.
    static let limit = 16

    /// The stream of `node` that stopped at `position`, which is the caller's from now on; nil when none did.
    func take(_ node: Node, at position: Int) -> DirectoryStream? {
        streams.withLock { streams in
            let found = streams.lastIndex { $0.node === node && $0.position == position }
            return found.map { streams.remove(at: $0) }
        }
    }

    /// Keeps a stream for who goes on from where it stopped.
    func keep(_ stream: DirectoryStream) {
        // Closed after the lock.
        var dropped: DirectoryStream?
        streams.withLock { streams in
            if streams.count >= Self.limit { dropped = streams.removeFirst() }
            streams.append(stream)
        }
        _ = dropped
    }
}
