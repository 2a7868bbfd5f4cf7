package import QuireCore
import Synchronization

/// How much of what is being brought here has arrived.
package struct DownloadProgress: Sendable, Hashable {
    package var completed: ByteCount
    package var total: ByteCount
}

/// Adds up what arrives of several files, and tells of it in order: never less than before.
final class DownloadSum: Sendable {
    /// Held while `tell` is called, which must not come back here.
    private let arrived: Lock<[ItemID: Int64]>
    private let tell: @Sendable (DownloadProgress) -> Void
    private let sizes: [ItemID: Int64]
    private let total: Int64

    /// - Parameter tell: called with nothing arrived first, then by `note`; must return soon.
    init(_ files: [(item: ItemID, size: Int64)], tell: @escaping @Sendable (DownloadProgress) -> Void) {
        self.tell = tell
        sizes = Dictionary(files.map { ($0.item, $0.size) }, uniquingKeysWith: max)
        total = sizes.values.reduce(0, +)
        arrived = Lock([:])
        tell(progress([:]))
    }

    /// Notes what has arrived of one file; a transfer that begins anew takes nothing back. Nobody is told where that is
    /// nothing new, or the file is none of these.
    func note(_ item: ItemID, _ bytes: ByteCount) {
        guard let size = sizes[item] else { return }
        arrived.withLock { arrived in
            let now = min(bytes.bytes, size)
            guard now > arrived[item, default: 0] else { return }
            arrived[item] = now
            tell(progress(arrived))
        }
    }

    private func progress(_ arrived: [ItemID: Int64]) -> DownloadProgress {
        DownloadProgress(completed: ByteCount(arrived.values.reduce(0, +)), total: ByteCount(total))
    }
}
