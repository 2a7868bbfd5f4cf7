import GRDB
import Logging
package import QuireCore
import Synchronization

/// The metadata index: what is in the store, what providers acknowledged, and how the two differ.
///
/// Events go in by `record`, in order, from any thread, and are committed by one thread of the index's own, in batches.
/// Reads are asynchronous, see what was committed, and never wait for a writer; call `settle` first to see everything
/// that was recorded. Open one index a file.
package final class MetadataIndex: StoreEventSink {
    let pool: DatabasePool
    let queue: IngestQueue
    let progress: IngestProgress
    let root: Int64
    let tagged: TaggedInodes
    let clock: @Sendable () -> FileTime
    private let marker: OpenMarker
    private let thread: OwnedThread
    private let typing: (work: ContentTyping, thread: OwnedThread)
    /// Innermost lock, as the next one.
    private let lateReporter = Lock(LateReporter())

    /// Not the bare closure: read through a generic type in place, that is wrapped once more with each access.
    private struct LateReporter {
        var report: (@Sendable () -> Void)?
    }

    private let isClosed = Lock(false)
    /// Users wait for what they read.
    private let readers = BackgroundPool(label: "quire-query", width: readerCount, niceness: 0)
    private let writers = BackgroundPool(label: "quire-record", width: 1)
    /// How many reads run at one time.
    static let readerCount = 3

    init(
        pool: DatabasePool, queue: IngestQueue, progress: IngestProgress, root: Int64, tagged: TaggedInodes,
        marker: OpenMarker,
        thread: OwnedThread, typing: (work: ContentTyping, thread: OwnedThread),
        clock: @escaping @Sendable () -> FileTime
    ) {
        self.pool = pool
        self.queue = queue
        self.progress = progress
        self.root = root
        self.tagged = tagged
        self.marker = marker
        self.thread = thread
        self.typing = typing
        self.clock = clock
    }

    deinit {
        queue.close()
        typing.work.close()
    }

    /// Queues `event`; never blocks on I/O. Nothing is recorded once the index is closed.
    package func record(_ event: StoreEvent) { queue.add(.event(event), time: clock()) }

    /// Whom `settle` asks first to record what they know of and have not yet told; nil for nobody. Called from any task;
    /// must not wait for anything but the local file system.
    package func setLateReporter(_ reporter: (@Sendable () -> Void)?) {
        lateReporter.withLock { $0.report = reporter }
    }

    /// Returns when every event recorded before the call is committed.
    ///
    /// - Throws: `.noSpace`, `.corrupt`, `.failed` when the disk refuses for longer than the limit given to `open`: the
    ///   events are kept and retried. `.closed`.
    package func settle() async throws(IndexError) {
        lateReporter.withLock { $0.report }?()
        try await progress.wait(for: queue.hurry()).get()
    }

    /// An element after each committed batch or step of a rescan, as long as the index is open; several may come as
    /// one.
    package func changes() -> AsyncStream<Void> { progress.changes() }

    /// How much was recorded and is not yet committed.
    package var queuedEvents: Int {
        // Committed first: the difference is never negative.
        let committed = progress.committedCount
        return Int(queue.recordedCount - committed)
    }

    /// Why events cannot be committed at present; nil when they can.
    package var failure: IndexError? { progress.failure }

    /// Commits what was recorded and closes the file. Blocks until that is done; call it from no cooperative thread.
    /// Calling it again does nothing.
    package func close() {
        let wasClosed = isClosed.withLock { wasClosed in
            defer { wasClosed = true }
            return wasClosed
        }
        guard !wasClosed else { return }
        queue.close()
        typing.work.close()
        typing.thread.join()
        thread.join()
        do {
            // All into the one file: SQLite would leave it in the log.
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try pool.close()
            if progress.failure?.code != .corrupt { marker.remove() }
        } catch {
            // Left as it is: the next start checks it.
            return
        }
    }

    /// Which containers there are now. Rows are placed anew in order with the events; `settle` waits for it.
    package func setContainers(_ layout: ContainerLayout) {
        queue.add(.command(.place(layout)), time: clock())
    }

    // MARK: Rescan

    /// Compares everything with the store, in the background. To be called at every start; until the first rescan, no
    /// directory counts as rescanned.
    package func beginRescan() {
        progress.rescanWanted()
        queue.add(.command(.rescan), time: clock())
    }

    /// Whether the directory at `path`, below the drive's root, was compared with the store since the index was opened.
    package func isRescanned(_ path: RelativePath) async throws(IndexError) -> Bool {
        if !progress.rescan.isActive { return progress.isRescanned(nil) }
        let root = root
        let id = try await read("a directory") { try $0.itemID(at: path, root: root) }
        return progress.isRescanned(id)
    }

    /// How far the rescan is.
    package var rescanProgress: RescanProgress { progress.rescan }

    /// Returns when no rescan is going on, with what the last one found; nil when there was none.
    package func rescanFinished() async -> RescanReport? {
        await progress.waitForRescan()
        return progress.rescan.lastReport
    }

    // MARK: Access

    /// Reads in one transaction. Not ended by cancelling the task: a read is short.
    ///
    /// On threads of the index's own, as GRDB's asynchronous way makes a new one whenever all others are about to wake.
    func read<Value: Sendable>(
        _ what: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(IndexError) -> Value {
        do {
            return try await readers.run { [pool] in try pool.read(body) }
        } catch {
            throw IndexError(error, "reading \(what)")
        }
    }

    /// Writes in one transaction, between those of the ingest thread. Not ended by cancelling the task, as `read`.
    func write<Value: Sendable>(
        _ what: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(IndexError) -> Value {
        do { return try await writers.run { [pool] in try pool.write(body) } } catch { throw IndexError(error, what) }
    }
}
