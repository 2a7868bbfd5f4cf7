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
    private let committer: any LocalTreeCommitter
    private let logger: Logger
    /// One at a time, behind everything else.
    private let pool = BackgroundPool(label: "quire-checksum", width: 1, niceness: 15)
    private let missing = WakeSignal()

    private struct State {
        /// The one that was counted last; nil where all are to be gone through from the first. Each has its turn, also where one
        /// takes longer than there is time between two transfers.
        var last: ItemID?
        /// How many in a row were read in part only.
        var cuts = 0
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    private let rest: Duration
    /// After that they are looked for without a reason: one may have been in use.
    private static let longestWait = Duration.seconds(3600)
    private static let page = 64

    init(_ environment: SyncEnvironment, transfers: TransferBoard, logger: Logger) {
        (index, tree, clock, committer) = (
            environment.index, environment.tree, environment.clock, environment.committer
        )
        rest = environment.settings.checksumRest
        self.transfers = transfers
        self.logger = logger
    }

    /// A document came without one.
    func add() { missing.raise() }

    /// Counts what is missing, what an earlier daemon left and whenever more is, until the task is cancelled.
    func run() async {
        missing.raise()
        while !Task.isCancelled {
            await missing.wait(atMost: Self.longestWait, clock: clock)
            // Ends early only when the task is cancelled.
            try? await clock.sleep(rest * (1 << min(6, state.withLock { $0.cuts })))
            do {
                if try await !count() { missing.raise() }
            } catch {
                // The disk's trouble is told by the rounds; looked at again with the next document.
                logger.info("checksums that are missing cannot be counted", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Whether there is something better to do.
    private var isBusy: Bool { !transfers.current.isEmpty || committer.isBusy }

    /// Counts all that are missing.
    ///
    /// - Returns: false where something is, or began to be, transferred before that was done: it goes on after the one that was
    ///   interrupted then, and comes to that when all others had their turn.
    func count() async throws -> Bool {
        guard !isBusy else { return false }
        try await index.settle()
        let begin = state.withLock { $0.last }
        while true {
            let items = try await index.uncountedFiles(after: state.withLock { $0.last }, limit: Self.page)
            if items.isEmpty { break }
            for item in items {
                await count(item)
                state.withLock { $0.last = item.entry.id }
                guard !isBusy, !Task.isCancelled else { return false }
            }
        }
        state.withLock { $0.last = nil }
        // Those before it, too.
        return begin == nil
    }

    /// What changes meanwhile, or cannot be read, stays without one until the next document comes so. What is transferred ends it.
    private func count(_ item: IndexedItem) async {
        guard let base = item.base, base.checksum == nil else { return }
        let (path, fingerprint, stop) = (item.drivePath, item.entry.fingerprint, OnceMark())
        do {
            let found = try await withTaskCancellationHandler {
                try await pool.run { [tree, transfers] () throws(StoreError) in
                    try Self.checksum(path, as: fingerprint, in: tree) {
                        stop.isSet || !transfers.current.isEmpty
                    }
                }
            } onCancel: {
                stop.set()
            }
            state.withLock { $0.cuts = 0 }
            guard let found else { return }
            index.record(.counted(item: item.entry.id, version: base.version, found))
        } catch {
            if isBusy { state.withLock { $0.cuts += 1 } }
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
