import Logging
import QuireCore
import QuireIndex
import QuireStore
import Synchronization

/// Counts the checksums of documents that came in parts from a provider that tells none, once nothing is transferred.
///
/// While a document comes, its blocks are in any order, and reading it once more before anybody may have it would take as long again.
/// Without a checksum what is here can be told from other content by the version only: an edit of what a server merely gave another
/// tag would be in conflict with that, and what was deleted would come back.
final class MissingChecksums: Sendable {
    private let index: any SyncIndex
    private let tree: DriveTree
    private let clock: SyncClock
    private let transfers: TransferBoard
    private let logger: Logger
    /// One at a time, behind everything else.
    private let pool = BackgroundPool(label: "quire-checksum", width: 1, niceness: 15)
    private let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// How long the drive is left alone first.
    private static let rest = Duration.seconds(10)
    private static let page = 64

    init(_ environment: SyncEnvironment, transfers: TransferBoard, logger: Logger) {
        (index, tree, clock) = (environment.index, environment.tree, environment.clock)
        self.transfers = transfers
        self.logger = logger
        // What an earlier daemon left.
        signal.yield()
    }

    /// A document came without one.
    func add() { signal.yield() }

    /// Counts what is missing, now and whenever more is, until the task is cancelled.
    func run() async {
        for await _ in signals {
            // Ends early only when the task is cancelled.
            try? await clock.sleep(Self.rest)
            do {
                if try await !count() { signal.yield() }
            } catch {
                // The disk's trouble is told by the rounds; looked at again with the next document.
                logger.info("checksums that are missing cannot be counted", metadata: ["error": "\(error)"])
            }
            if Task.isCancelled { return }
        }
    }

    /// Counts all that are missing.
    ///
    /// - Returns: false where something began to be transferred before that was done.
    func count() async throws -> Bool {
        var last: ItemID?
        while true {
            let items = try await index.uncountedFiles(after: last, limit: Self.page)
            guard let end = items.last else { return true }
            for item in items {
                guard transfers.current.isEmpty, !Task.isCancelled else { return false }
                await count(item)
            }
            last = end.entry.id
        }
    }

    /// What changes meanwhile, or cannot be read, stays without one.
    private func count(_ item: IndexedItem) async {
        guard let base = item.base, base.checksum == nil else { return }
        let (path, fingerprint, stop) = (item.drivePath, item.entry.fingerprint, OnceMark())
        do {
            let found = try await withTaskCancellationHandler {
                try await pool.run { [tree] () throws(StoreError) in
                    try Self.checksum(path, as: fingerprint, in: tree, isCancelled: { stop.isSet })
                }
            } onCancel: {
                stop.set()
            }
            guard let found else { return }
            index.record(.counted(item: item.entry.id, version: base.version, found))
        } catch {
            logger.info("a document's checksum is not counted", metadata: ["path": "\(path)", "error": "\(error)"])
        }
    }

    /// The checksum of what is at a path below the drive's root; nil where that is not what the fingerprint is of. Blocks.
    static func checksum(
        _ path: RelativePath, as fingerprint: Fingerprint, in tree: DriveTree, isCancelled: () -> Bool
    ) throws(StoreError) -> ContentChecksum? {
        let file = try tree.openForReading(path)
        guard try file.status().fingerprint == fingerprint else { return nil }
        let found = try ContentCopy.checksum(of: file, shown: path.description, isCancelled: isCancelled).checksum
        return try file.status().fingerprint == fingerprint ? found : nil
    }
}
