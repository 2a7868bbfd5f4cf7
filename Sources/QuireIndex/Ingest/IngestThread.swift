import Glibc
import GRDB
import Logging
import QuireCore

/// The body of the thread that is the index's one writer of rows: commits batches of events, and takes the rescan's
/// steps between them.
///
/// `@unchecked Sendable`: everything mutable is touched by that thread alone.
final class IngestThread: @unchecked Sendable {
    static let batchLimit = 32_000

    let database: IndexDatabase
    let file: IndexFile
    /// Has the writing connection of a new file tell what it should.
    let listen: @Sendable (DatabasePool) throws -> Void
    private let queue: IngestQueue
    let progress: IngestProgress
    let lister: StoreLister
    let logger: Logger
    private let settleLimit: Duration
    let typing: ContentTyping

    // Of the thread alone.
    var state: IngestState
    var rescan: Rescan?
    var rebuilds = Rebuilds()
    private var rescansAnswered = 0
    var suspects: Set<Int64> = []
    /// When the last rescan that nobody asked for began, and how long the last one took.
    private var lastUnasked: UInt64 = 0
    private var lastDuration: UInt64 = 0
    private var wholeSince: UInt64 = 0
    /// Directories of the store that could not be compared, or not all of them.
    var unread: [Int64: UnreadPlace] = [:]
    /// When these are tried again, and how long after a try that is, in nanoseconds.
    var nextLook: UInt64 = 0
    let unreadPause: UInt64
    /// An event was missed, and its rescan waits for its time.
    var isRescanDue = false
    var names = NameIndexing.due
    /// Since it was last told how much is committed, something was that others wait for.
    private var hasNews = false

    /// Whether names may be in the queue of `NameSearch`.
    enum NameIndexing {
        case done, due, underWay
    }

    init(
        database: IndexDatabase, file: IndexFile, queue: IngestQueue, progress: IngestProgress, lister: StoreLister,
        state: IngestState, settleLimit: Duration, unreadPause: Duration, typing: ContentTyping, logger: Logger,
        listen: @escaping @Sendable (DatabasePool) throws -> Void
    ) {
        self.database = database
        self.file = file
        self.listen = listen
        self.queue = queue
        self.progress = progress
        self.lister = lister
        self.state = state
        self.settleLimit = settleLimit
        self.unreadPause = UInt64(max(0, unreadPause / .nanoseconds(1)))
        self.typing = typing
        self.logger = logger
    }

    /// Runs until the queue is closed and empty.
    func run() {
        while true {
            startDueRescan()
            lookAgain()
            let idle: Int? = rescan.map { $0.hasDirectories ? 0 : 10 } ?? (suspects.isEmpty ? idleMilliseconds : 0)
            switch queue.next(limit: Self.batchLimit, idleMilliseconds: idle, gathers: rescan == nil) {
            case .closed: return
            case .idle: rescan == nil && suspects.isEmpty && !isRescanOverdue ? indexNames() : stepRescan()
            case .batch(let entries, let count):
                if entries.contains(where: \.work.isCheck) { checkFile() }
                commit(EventFolding.fold(entries))
                noteAttributes(entries)
                progress.committed(upTo: count, isNews: hasNews)
                hasNews = false
                // A steady stream of events must not keep the rescan from ending.
                if rescan != nil { stepRescan() }
            }
        }
    }

    // MARK: Batches

    private func commit(_ entries: [IngestQueue.Entry]) {
        var outcome = Outcome.rebuilt
        // What came while there was no file goes into the new one.
        while outcome == .rebuilt {
            outcome = retrying(
                "a batch of \(entries.count) events", durably: entries.contains(where: \.mustSurvive),
                first: { try self.writeThrough(entries) }
            ) { writer in
                for entry in entries {
                    writer.now = entry.time.nanoseconds
                    if let work = self.acceptable(entry.work) { try self.apply(work, &writer) }
                }
            }
        }
        if outcome != .done { hasNews = true }
        if hasNews { names = .due }
        if outcome == .done { return enqueueMovedDirectories(entries) }
        guard entries.count > 1 else {
            if let entry = entries.first {
                logger.error("an event could not be recorded; comparing all anew", metadata: ["event": "\(entry.work)"])
            }
            return startWholeRescan(unasked: true)
        }
        for entry in entries { commit([entry]) }
    }

    private func apply(_ work: IngestQueue.Entry.Work, _ writer: inout TreeWriter) throws {
        // Which tells that itself.
        if case .event(.contentChanged) = work {} else { writer.hasNews = true }
        switch work {
        case .event(let event): try writer.apply(event)
        case .arrived(let parent, let name, let status):
            try writer.created(parent: parent, name.bytes, status, isWritten: true)
        case .command(.place(let layout)):
            writer.state.layout = layout
            try writer.placeAll()
            try writer.db.setMeta(MetaKey.layout, PlacementRules(layout, writer.state.ephemeral).stored)
        case .command(.rescan): startWholeRescan(unasked: false)
        case .command(.check): break
        case .command(.takeBases(let rebuild)): rebuilds.takesBases = rebuild == rebuilds.count
        }
    }

    /// Runs `body` in one transaction until it succeeds, as long as it is the disk that refuses.
    ///
    /// - Parameters:
    ///   - durably: survives a power cut once it is done.
    ///   - first: is done before, each time, with the database free for others.
    @discardableResult
    private func retrying(
        _ what: String, durably: Bool = false, first: () throws -> Void = {}, _ body: (inout TreeWriter) throws -> Void
    ) -> Outcome {
        var pause = 50
        while true {
            do {
                try first()
                try transaction(durably: durably, body)
                return .done
            } catch {
                let failure = confirmed(IndexError(error, what))
                guard failure.code != .failed || failure.isOfDisk else {
                    logger.error("index: a change failed", metadata: ["what": "\(what)", "error": "\(failure)"])
                    return .refused
                }
                if failure.code == .corrupt, rebuild(because: failure) { return .rebuilt }
                if pause == 50 { logger.warning("index: cannot write, retrying", metadata: ["error": "\(failure)"]) }
                progress.failed(failure.code == .corrupt ? rebuilds.told(failure) : failure, limit: settleLimit)
                // Not before the disk is better; the next start compares all with the store.
                if queue.isClosed, pause > 200 { return .done }
                usleep(UInt32(pause) * 1000)
                pause = min(pause * 2, 1000)
            }
        }
    }

    private func transaction(durably: Bool, _ body: (inout TreeWriter) throws -> Void) throws {
        let lister = lister
        let after = try database.use { try write($0, lister, durably: durably, body) }
        state = after.state
        if state.types.hasUnseen {
            state.types.hasUnseen = false
            typing.wake()
        }
        hasNews = hasNews || after.hasNews
        suspects.formUnion(after.suspects)
        if !after.unwitnessed.isEmpty { compareWithAll(after.unwitnessed) }
        if after.missesDirectory { startWholeRescan(unasked: true) }
    }

    private func write(
        _ pool: DatabasePool, _ lister: StoreLister, durably: Bool, _ body: (inout TreeWriter) throws -> Void
    ) throws -> TreeWriter {
        try pool.writeWithoutTransaction { db -> TreeWriter in
            var writer = TreeWriter(db: db, state: state) { lister.look(at: $0) }
            try db.durably(durably) {
                try db.inTransaction(.immediate) {
                    try body(&writer)
                    if writer.state.nextID != state.nextID {
                        try db.setMeta(MetaKey.nextID, String(writer.state.nextID))
                    }
                    return .commit
                }
            }
            return writer
        }
    }

    // MARK: Rescan

    /// - Parameter unasked: an event named a directory that is not known, so something was missed. One that is on its
    ///   way finds it; otherwise one is begun, but they take at most a tenth of the time.
    func startWholeRescan(unasked: Bool) {
        if unasked {
            guard rescan?.isWhole != true, !isRescanDue else { return }
            logger.debug("index: an event was missed; all is to be compared with the store")
            progress.rescanWanted()
            isRescanDue = true
            return startDueRescan()
        }
        isRescanDue = false
        wholeSince = Self.monotonic()
        // Whoever asks from now on has a command in the queue, which begins anew.
        rescansAnswered = progress.rescansWanted
        rescan = Rescan(whole: state.root)
    }

    /// Has directories listed by a rescan that lists all others, too.
    private func compareWithAll(_ directories: Set<Int64>) {
        if rescan?.isWhole == true { rescan?.queue += directories.sorted() } else { startWholeRescan(unasked: true) }
    }

    private func startDueRescan() {
        guard isRescanDue, Self.monotonic() >= nextUnasked else { return }
        lastUnasked = Self.monotonic()
        startWholeRescan(unasked: false)
    }

    private var nextUnasked: UInt64 { lastUnasked == 0 ? 0 : lastUnasked + max(200_000_000, 10 * lastDuration) }

    /// How long to sleep when nothing comes; nil for ever.
    private var idleMilliseconds: Int? {
        let due = [isRescanDue ? nextUnasked : nil, unread.isEmpty ? nil : nextLook].compactMap(\.self).min()
        guard let due else { return namesPause }
        let time = Self.monotonic()
        let pause = due > time ? Int((due - time) / 1_000_000) + 1 : 0
        return min(pause, namesPause ?? pause)
    }

    private var isRescanOverdue: Bool { isRescanDue && Self.monotonic() >= nextUnasked }

    // MARK: Names

    /// Whoever is busy comes first: when all has rested for so long, in milliseconds, names are indexed without a pause.
    private var namesPause: Int? {
        switch names {
        case .done: nil
        case .due: 100
        case .underWay: 0
        }
    }

    private func indexNames() {
        guard names != .done else { return }
        retrying("names") { writer in
            self.names = try NameSearch.update(writer.db, limit: 4000) ? .underWay : .done
        }
        progress.tick()
    }

    private func stepRescan() {
        if rescan == nil, !suspects.isEmpty { rescan = Rescan(only: suspects, unread: unread) }
        guard var current = rescan else { return }
        let count = rebuilds.count
        if !suspects.isEmpty {
            current.queue += suspects.sorted()
            suspects = []
        }
        let failure = rootFailure()
        // Another has begun.
        guard rebuilds.count == count else { return }
        if let failure {
            current.report.failure = failure
            return end(current)
        }
        if let directory = current.takeDirectory() {
            return list(directory, current)
        }
        // The whole one that is due will know more of what is missing, and of what lies where a placeholder was.
        if isRescanDue, !current.isWhole { return rescan = nil }
        guard Self.monotonic() - current.lastStep >= Rescan.graceNanoseconds else {
            rescan = current
            return
        }
        // What is missing may have been moved by an operation that is about to record it.
        let awaited = current.awaited ?? queue.recordedAfterOperations()
        current.awaited = awaited
        guard progress.committedCount >= awaited else {
            rescan = current
            return
        }
        var finished = current
        let outcome = retrying("the end of a rescan") { writer in
            finished = current
            writer.now = self.file.clock().nanoseconds
            try writer.decide(&finished, self.lister)
            if !finished.hasDirectories { try writer.removeMissing(&finished) }
        }
        guard outcome != .rebuilt else { return }
        if outcome == .done, finished.hasDirectories {
            // What was decided brought directories that nobody has listed.
            finished.lastStep = Self.monotonic()
            rescan = finished
            return
        }
        if outcome == .refused { finished.report.failure = "the index could not be written" }
        end(finished)
    }

    private func list(_ directory: Int64, _ current: Rescan) {
        var stepped = current
        let outcome = retrying("a directory of a rescan") { writer in
            stepped = current
            writer.now = self.file.clock().nanoseconds
            try writer.compare(directory, &stepped, self.lister)
        }
        guard outcome != .rebuilt else { return }
        if outcome == .refused { stepped.report.failure = "a directory could not be compared" }
        stepped.lastStep = Self.monotonic()
        rescan = stepped
        if stepped.isWhole {
            progress.rescanListed(
                directory, isRead: stepped.unread[directory] == nil && stepped.undecided[directory] == nil,
                queued: stepped.queue.count - stepped.next)
        }
        progress.committed(upTo: progress.committedCount)
    }

    private func end(_ finished: Rescan) {
        var finished = finished
        rescan = nil
        names = .due
        if finished.report.failure == nil { take(&finished) }
        if finished.isWhole {
            lastDuration = Self.monotonic() - wholeSince
            progress.rescanEnded(finished.report, answering: rescansAnswered)
            logger.info("index: rescan ended", metadata: ["report": "\(finished.report)"])
        }
        progress.committed(upTo: progress.committedCount)
    }

    /// Why the drive's directory cannot be compared; brings the root's row after the directory.
    private func rootFailure() -> String? {
        guard let status = lister.rootStatus() else { return "\(lister.root) is not there" }
        guard rescan?.lastStep ?? 0 == 0 else { return nil }
        retrying("the root of a rescan") { writer in
            try writer.meetStore(status, self.lister, isOpening: false)
        }
        return nil
    }

    /// A directory that was moved while a rescan is on its way may have left a place not yet listed for one that was.
    private func enqueueMovedDirectories(_ entries: [IngestQueue.Entry]) {
        guard rescan?.isWhole == true else { return }
        var inodes: [UInt64] = []
        for entry in entries {
            switch entry.work {
            case .event(.renamed(let rename)):
                if rename.status.kind == .directory { inodes.append(rename.status.inode) }
                if let other = rename.exchanged, other.kind == .directory { inodes.append(other.inode) }
            case .event(.committed(let commit)):
                if case .moved(_, _, _, _, let status) = commit.change, status.kind == .directory {
                    inodes.append(status.inode)
                }
            case .event, .arrived, .command: break
            }
        }
        guard !inodes.isEmpty else { return }
        var found: [Int64] = []
        let outcome = retrying("directories that were moved") { writer in
            found = try inodes.compactMap { try writer.directory($0)?.id }
        }
        // Of a new file, all is listed.
        guard outcome == .done else { return }
        rescan?.queue += found
    }

    static func monotonic() -> UInt64 { UInt64(MonotonicClock.now()) }
}
