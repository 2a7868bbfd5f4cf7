import Glibc
import GRDB
package import Logging
package import QuireCore

extension MetadataIndex {
    /// Opens the index at `path`, or makes one.
    ///
    /// A damaged file is set aside and a new index made; what that one lacks, a rescan and the provider tell. Blocks
    /// on the disk; call it from no cooperative thread where that matters.
    /// - Parameters:
    ///   - path: absolute path of `index.sqlite`; `-wal`, `-shm` and `.open` are made beside it.
    ///   - driveRoot: absolute path of the store.
    ///   - content: absolute path of the file of documents' words; nil where they are not kept.
    ///   - settleLimit: how long `settle` waits while the disk refuses.
    ///   - clock: the time of day; injected in tests.
    /// - Throws: `.newerSchema`, `.storeMissing`, `.noSpace`, `.failed`.
    package static func open(
        at path: String, driveRoot: String, ephemeral: EphemeralNames = EphemeralNames(),
        containers: ContainerLayout = .single, types: ItemTyper = ItemTyper(), content: String? = nil,
        settleLimit: Duration = .seconds(2),
        clock: @escaping @Sendable () -> FileTime = MetadataIndex.systemClock, logger: Logger = Logger(label: "index")
    ) throws(IndexError) -> (MetadataIndex, IndexOpening) {
        try open(
            at: path, lister: StoreLister(root: driveRoot), ephemeral: ephemeral, containers: containers, types: types,
            content: content, settleLimit: settleLimit, clock: clock, logger: logger)
    }

    /// As the other one, of a store that is looked at by `lister`.
    ///
    /// - Parameter unreadPause: after which what could not be looked at is tried again.
    static func open(
        at path: String, lister: StoreLister, ephemeral: EphemeralNames = EphemeralNames(),
        containers: ContainerLayout = .single, types: ItemTyper = ItemTyper(), content: String? = nil,
        settleLimit: Duration = .seconds(2), unreadPause: Duration = .seconds(60),
        clock: @escaping @Sendable () -> FileTime = MetadataIndex.systemClock, logger: Logger = Logger(label: "index")
    ) throws(IndexError) -> (MetadataIndex, IndexOpening) {
        guard let rootStatus = lister.rootStatus() else {
            throw IndexError(.storeMissing, "the drive's directory \(lister.root) is not there")
        }
        let file = IndexFile(path: path, content: content, clock: clock)
        let part = try openContent(content, logger)
        let setup = IngestSetup(layout: containers, ephemeral: ephemeral, typer: types)
        let (pool, state, opening) = try file.open { try IngestState($0, setup, rootStatus, lister, now: clock()) }
        let collector = ChangeCollector()
        let listen = { @Sendable (pool: DatabasePool) throws in
            collector.begin()
            pool.add(transactionObserver: collector, extent: .databaseLifetime)
            try part?.queue.listen(to: pool)
        }
        do { try listen(pool) } catch { throw IndexError(error, "listening for changes") }
        file.marker.markOpen()
        let database = IndexDatabase(pool)
        let queue = IngestQueue()
        let progress = IngestProgress()
        let typing = ContentTyping(
            database: database, root: state.root, opener: ContentOpener(lister: lister), catalog: types.catalog,
            logger: logger
        ) { progress.tick() }
        let body = IngestThread(
            database: database, file: file, queue: queue, progress: progress, lister: lister, state: state,
            settleLimit: settleLimit, unreadPause: unreadPause, typing: typing, logger: logger, listen: listen)
        let thread = OwnedThread(name: "quire-index", niceness: 5) {
            body.run()
            progress.ended()
        }
        let typingThread = OwnedThread(name: "quire-types", niceness: 15) { typing.run() }
        guard let thread, let typingThread else {
            queue.close()
            typing.close()
            throw IndexError(.failed, "no thread can be started for the index")
        }
        // What an earlier daemon did not come to.
        typing.wake()
        let index = MetadataIndex(
            database: database, queue: queue, progress: progress, root: state.root, tagged: state.tagged,
            marker: file.marker, thread: thread, typing: (typing, typingThread), collector: collector, content: part,
            clock: clock)
        return (index, opening)
    }

    private static func openContent(_ path: String?, _ logger: Logger) throws(IndexError) -> ContentPart? {
        guard let path else { return nil }
        _ = IndexFile.keepsSharedMemoryInProcess
        return ContentPart(store: try ContentStore(at: path, logger: logger), queue: ContentQueue())
    }

    /// The system's time of day.
    package static let systemClock: @Sendable () -> FileTime = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}
