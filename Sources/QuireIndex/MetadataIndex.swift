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
    let database: IndexDatabase
    let queue: IngestQueue
    let progress: IngestProgress
    let root: Int64
    let tagged: TaggedInodes
    let clock: @Sendable () -> FileTime
    let trigrams = TrigramSample()
    private let marker: OpenMarker
    private let thread: OwnedThread
    private let collector: ChangeCollector
    /// Nil where the words of documents are not kept.
    let content: ContentPart?
    private let typing: (work: ContentTyping, thread: OwnedThread)
    /// Innermost lock, as the next one.
    private let lateReporter = Lock(LateReporter())

    /// Not the bare closure: read through a generic type in place, that is wrapped once more with each access.
    private struct LateReporter {
        var report: (@Sendable () -> Void)?
    }

    private let isClosed = Lock(false)
    /// Users wait for what they read.
    private let readers = PoolExecutor(label: "quire-query", width: readerCount, niceness: 0)
    private let writers = BackgroundPool(label: "quire-record", width: 1)
    private let contentWriter = BackgroundPool(label: "quire-words", width: 1, niceness: 15)
    /// How many reads run at one time.
    static let readerCount = 3

    init(
        database: IndexDatabase, queue: IngestQueue, progress: IngestProgress, root: Int64, tagged: TaggedInodes,
        marker: OpenMarker, thread: OwnedThread, typing: (work: ContentTyping, thread: OwnedThread),
        collector: ChangeCollector, content: ContentPart?,
        clock: @escaping @Sendable () -> FileTime
    ) {
        self.database = database
        self.queue = queue
        self.progress = progress
        self.root = root
        self.tagged = tagged
        self.marker = marker
        self.thread = thread
        self.typing = typing
        self.collector = collector
        self.content = content
        self.clock = clock
    }

    deinit {
        queue.close()
        content?.queue.end()
        typing.work.close()
    }

    /// Queues `event`; never blocks on I/O. Nothing is recorded once the index is closed.
    package func record(_ event: StoreEvent) { queue.add(.event(event), time: clock()) }

    /// Whom `settle` asks first to record what they know of and have not yet told; nil for nobody. Called from any task;
    /// must not wait for anything but the local file system.
    package func setLateReporter(_ reporter: (@Sendable () -> Void)?) {
        lateReporter.withLock { $0.report = reporter }
    }

    /// By what the rescan waits for operations that are under way in the store, before it takes anything for missing: an entry
    /// that such a one has moved may be in neither of two listings, and its event not here yet. Nil where nobody changes the store.
    ///
    /// - Parameter finish: returns when each operation that was begun before has recorded its event. Called on the index's own
    ///   thread; must not wait for the index.
    package func setOperations(_ finish: (@Sendable () -> Void)?) { queue.setOperations(finish) }

    /// Returns when every event recorded before the call is committed.
    ///
    /// - Throws: `.noSpace`, `.corrupt`, `.failed` when the disk refuses for longer than the limit given to `open`: the
    ///   events are kept and retried. `.closed`.
    package func settle() async throws(IndexError) {
        lateReporter.withLock { $0.report }?()
        try await progress.wait(for: queue.hurry()).get()
    }

    /// Has what was recorded until now written meanwhile: for who records much and waits by `settle` then. Returns at once.
    package func writeSoon() { _ = queue.hurry() }

    /// An element after each committed batch or step of a rescan, as long as the index is open; several may come as
    /// one. None comes for further writes alone to a file that is known to be written to.
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
        content?.queue.end()
        typing.work.close()
        typing.thread.join()
        thread.join()
        do {
            // All into the one file: SQLite would leave it in the log.
            try database.use { pool in
                try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
                try pool.close()
            }
            // Its readers are gone with the pool.
            try content?.store.close()
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

    // MARK: Rebuild

    /// An element for each time that the file turned out to be damaged while it was open and a new one was begun, until the
    /// index is closed. For one listener, who ends what was begun with the former file, and calls `takeBases` then.
    package var rebuilds: AsyncStream<IndexRebuild> { progress.rebuilds }

    /// The rebuild that is under way: until it is over, what is asked of items finds what was compared with the store.
    package var rebuild: IndexRebuild? { progress.currentRebuild }

    /// Another after each exchange of the file; stays the same within a read.
    var generation: Int { database.generation }

    /// Events say what providers have from now on. After a rebuild they are not believed until this was called: what one
    /// that was under way says of a document that is not in the new file yet would look like a deletion.
    package func takeBases(after rebuild: IndexRebuild) {
        queue.add(.command(.takeBases(rebuild: rebuild.number)), time: clock())
    }

    /// Returns when no rebuild is under way.
    ///
    /// - Throws: `.failed` when the store could not be read to its end.
    package func waitUntilWhole() async throws(IndexError) { try await progress.waitUntilWhole() }

    // MARK: Rescan

    /// Compares everything with the store, in the background. To be called at every start; until the first rescan, no
    /// directory counts as rescanned.
    package func beginRescan() {
        progress.rescanWanted()
        queue.add(.command(.rescan), time: clock())
    }

    /// Whether the directory at `path`, below the drive's root, was compared with the store since the index was opened: all
    /// of it.
    package func isRescanned(_ path: RelativePath) async throws(IndexError) -> Bool {
        let root = root
        if !progress.rescan.isActive {
            guard progress.isRescanned(nil) else { return false }
            let unread = progress.unread
            if unread.isEmpty { return true }
            return try await read("directories") { db in
                var directory = root
                for name in path.components {
                    if unread[directory]?.isWhole == true { return false }
                    guard let next = try db.itemID(directory, name) else { break }
                    directory = next
                }
                return unread[directory] == nil
            }
        }
        let id = try await read("a directory") { try $0.itemID(at: path, root: root) }
        return progress.isRescanned(id)
    }

    /// What of the store could not be looked at when it was last compared.
    package var unreadPlaces: [UnreadPlace] { Array(progress.unread.values) }

    /// How far the rescan is.
    package var rescanProgress: RescanProgress { progress.rescan }

    /// Returns when no rescan is going on, with what the last one found; nil when there was none.
    package func rescanFinished() async -> RescanReport? {
        await progress.waitForRescan()
        return progress.rescan.lastReport
    }

    /// Has `hear` called with what each transaction changed, on the thread that wrote it; nil ends that. For one listener.
    /// Meanwhile events are committed sooner.
    func collectChanges(_ hear: (@Sendable (ItemChanges) -> Void)?) async throws(IndexError) {
        try await write("listening") { [collector, queue] db in
            try collector.listen(db, hear)
            queue.setEager(hear != nil)
        }
    }

    // MARK: Access

    /// Tells running queries that the words of these items are others.
    func tell(_ items: [Int64]) { collector.tell(ItemChanges(items: Set(items))) }

    /// Runs work on the words, behind all other work.
    func onContentThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(IndexError) -> Value
    ) async throws(IndexError) -> Value { try await contentWriter.run(body) }

    /// Runs `body` where the index reads, so that none of its reads changes threads: for a query of several steps.
    package func reading<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        try await withTaskExecutorPreference(readers, operation: body)
    }

    /// Reads in one transaction. Not ended by cancelling the task: a read is short.
    ///
    /// On threads of the index's own, as GRDB's asynchronous way makes a new one whenever all others are about to wake.
    func read<Value: Sendable>(
        _ what: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(IndexError) -> Value {
        do {
            return try await readers.run { [database] in
                // Transactions of our own: GRDB makes their statements anew each time, which a short query feels.
                try database.use { try $0.unsafeRead { db in try db.consistently { try body(db) } } }
            }
        } catch {
            throw told(IndexError(error, "reading \(what)"))
        }
    }

    /// Writes in one transaction, between those of the ingest thread. Not ended by cancelling the task, as `read`.
    func write<Value: Sendable>(
        _ what: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(IndexError) -> Value {
        try await writing(what) { try $0.write(body) }
    }

    /// As `write`; what is written survives a power cut.
    func writeDurably(
        _ what: String, _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws(IndexError) {
        try await writing(what) { pool in
            try pool.writeWithoutTransaction { db in
                try db.durably(true) {
                    try db.inTransaction(.immediate) {
                        try body(db)
                        return .commit
                    }
                }
            }
        }
    }

    private func writing<Value: Sendable>(
        _ what: String, _ body: @escaping @Sendable (DatabasePool) throws -> Value
    ) async throws(IndexError) -> Value {
        do {
            return try await writers.run { [database] in try database.use(body) }
        } catch {
            throw told(IndexError(error, what))
        }
    }

    /// Has the file looked at where it may be damaged, and that of documents' words at the next start.
    ///
    /// - Returns: the error, which says so where the index was found whole when damage was met before.
    private func told(_ error: IndexError) -> IndexError {
        guard error.code == .corrupt || error.isOfReading else { return error }
        if queue.add(.command(.check), time: clock()) { progress.damageSuspected(until: queue.hurry()) }
        guard let content else { return error }
        content.store.suspectDamage()
        guard error.code == .corrupt, progress.wasFoundWhole else { return error }
        return .damagedStill(cause: error.cause)
    }
}
