package import QuireCore
import Synchronization

/// How much of what is being brought here has arrived.
package struct DownloadProgress: Sendable, Hashable {
    package var completed: ByteCount
    package var total: ByteCount
}

/// Adds up what arrives of several files.
final class DownloadSum: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let arrived: Lock<[ItemID: Int64]>
    private let sizes: [ItemID: Int64]
    private let total: Int64

    init(_ files: [(item: ItemID, size: Int64)]) {
        sizes = Dictionary(files.map { ($0.item, $0.size) }, uniquingKeysWith: max)
        total = sizes.values.reduce(0, +)
        arrived = Lock([:])
    }

    var progress: DownloadProgress { arrived.withLock { progress($0) } }

    /// Notes what has arrived of one file; a transfer that begins anew takes nothing back.
    ///
    /// - Returns: nil where that is nothing new, or the file is none of these.
    func note(_ item: ItemID, _ bytes: ByteCount) -> DownloadProgress? {
        guard let size = sizes[item] else { return nil }
        return arrived.withLock { arrived in
            let now = min(bytes.bytes, size)
            guard now > arrived[item, default: 0] else { return nil }
            arrived[item] = now
            return progress(arrived)
        }
    }

    private func progress(_ arrived: [ItemID: Int64]) -> DownloadProgress {
        DownloadProgress(completed: ByteCount(arrived.values.reduce(0, +)), total: ByteCount(total))
    }
}
