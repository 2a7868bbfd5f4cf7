import Glibc
import Logging
package import QuireCoordination
package import QuireCore
import QuireIndex
package import QuireStore
import Synchronization

/// What the engines of one drive share.
package struct SyncEnvironment: Sendable {
    package var index: any SyncIndex
    package var committer: any LocalTreeCommitter
    package var coordinator: Coordinator
    package var tree: DriveTree
    package var staging: Staging
    /// Where content lies that is here in parts; on the store's file system.
    package var partialPath: String
    package var versions: KeptVersions
    package var settings: SyncSettings
    package var clock: SyncClock
    package var limits: SpaceLimits
    /// What the driver lets programs write; kept by the limits.
    package var room: WriteRoom
    /// What the providers' content passes through.
    package var traffic: Traffic

    package init(
        index: any SyncIndex, committer: any LocalTreeCommitter, coordinator: Coordinator, tree: DriveTree,
        staging: Staging, partialPath: String, versions: KeptVersions, settings: SyncSettings,
        clock: SyncClock = .system, limits: SpaceLimits = SpaceLimits(), room: WriteRoom = WriteRoom(),
        traffic: Traffic = Traffic()
    ) {
        self.index = index
        self.committer = committer
        self.coordinator = coordinator
        self.tree = tree
        self.staging = staging
        self.partialPath = partialPath
        self.versions = versions
        self.settings = settings
        self.clock = clock
        self.limits = limits
        self.room = room
        self.traffic = traffic
    }
}

/// A container and the provider that keeps it.
package struct SyncedContainer: Sendable {
    package var id: ContainerID
    /// Its Documents scope, below the drive's root; the root itself for the default container.
    package var root: RelativePath
    /// Directories below `root` that are containers with providers of their own.
    package var excluded: [RelativePath]
    /// As in the configuration.
    package var providerName: String
    package var provider: any DocumentProvider
    /// Of the provider's store.
    package var identity: any StoreIdentity
    /// Whether it is used though two devices could overwrite each other's changes there.
    package var acceptsLossy: Bool

    package init(
        id: ContainerID, root: RelativePath, excluded: [RelativePath] = [], providerName: String,
        provider: any DocumentProvider, identity: any StoreIdentity, acceptsLossy: Bool = false
    ) {
        self.id = id
        self.root = root
        self.excluded = excluded
        self.providerName = providerName
        self.provider = provider
        self.identity = identity
        self.acceptsLossy = acceptsLossy
    }
}

/// The ubiquity attributes that sync changes, by their names on the control socket.
enum UbiquityAttribute: String {
    case isUploading, isUploaded, isDownloading, downloadingStatus
}

/// What the rounds of one engine share.
struct SyncContext: Sendable {
    let environment: SyncEnvironment
    let container: SyncedContainer
    let transfers: TransferBoard
    let space: SpaceKeeper
    let pause: PauseSwitch
    let arriving: ArrivingDocuments
    /// The provider was asked for a part of a document, and has none.
    let handsOutWholeDocuments = OnceMark()
    let retries = RetryBook()
    let providerRoom = ProviderRoom()
    let failures = FailureRun()
    let stalls = StallWatch()
    let quota = ProviderQuota()
    let touched = TouchedPaths()
    let missing = MissingDocuments()
    let unseen = UnseenNotes()
    let announcements = Announcements()
    let beside = UploadsBeside()
    let openFiles = OpenFiles()
    let restless = RestlessDocuments()
    let openQuestions = OpenQuestions()
    let openMoves = OpenMoves()
    let recentUploads = RecentUploads()
    let takenUploads = TakenUploads()
    let foundStore = FoundStore()
    let turn = InstallationTurn()
    let commits = BindingGate()
    let pool: PoolExecutor
    let logger: Logger

    var index: any SyncIndex { environment.index }
    var committer: any LocalTreeCommitter { environment.committer }
    var provider: any DocumentProvider { container.provider }
    /// The provider, where it does without snapshots.
    var directProvider: (any DirectUploading)? { container.provider as? any DirectUploading }
    var tree: DriveTree { environment.tree }
    var staging: Staging { environment.staging }
    var settings: SyncSettings { environment.settings }
    var clock: SyncClock { environment.clock }

    /// Whether applications coordinate just now.
    var isCoordinated: Bool { environment.coordinator.isActive }

    /// A container's path, below the drive's root.
    func drivePath(_ path: RelativePath) -> RelativePath { container.root.appending(path) }

    /// Performs a change on a thread that may block. The driver's part is short, the fsync of a directory may not be.
    ///
    /// - Returns: `.busy` also while another store comes to keep the container.
    func commit(_ change: LocalChange) async throws(SyncFailure) -> LocalChangeResult {
        do {
            return try await commits.run { () async throws(LocalChangeError) in
                try await pool.run { () throws(LocalChangeError) in try committer.commit(change) }
            } ?? .busy
        } catch {
            throw SyncFailure(error)
        }
    }

    /// Runs work on the store on a thread that may block.
    func store<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(SyncFailure) -> Value {
        do { return try await pool.run(body) } catch { throw SyncFailure(error) }
    }

    /// As `store`, for work that asks now and then whether the task was cancelled.
    func cancellableStore<Value: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws(StoreError) -> Value
    ) async throws(SyncFailure) -> Value {
        let stop = OnceMark()
        let result: Result<Value, SyncFailure> = await withTaskCancellationHandler {
            do throws(SyncFailure) {
                return .success(try await store { () throws(StoreError) in try body { stop.isSet } })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            stop.set()
        }
        return try result.get()
    }

    /// Runs `body` under a coordinated read of `path`, where applications coordinate at all. Never around a network call.
    func whileReading<Value: Sendable>(
        _ path: RelativePath, _ body: () async throws(SyncFailure) -> Value
    ) async throws(SyncFailure) -> Value {
        var options = AcquireOptions(deadline: settings.claimDeadline)
        // What is in the store is uploaded; what an app has not saved yet comes with its next save.
        options.asksNobody = true
        return try await coordinated([.reading(path, .forUploading)], options) { (_) async throws(SyncFailure) in
            try await body()
        }
    }

    /// Performs a change that comes from the provider as a coordinated write, where applications coordinate at all: who
    /// presents the item saves what it has, gives way or agrees to the deletion first, and is told afterwards.
    ///
    /// What is saved meanwhile makes the change stale: both versions are kept.
    func commitCoordinated(_ change: LocalChange) async throws(SyncFailure) -> LocalChangeResult {
        try await coordinated(change.accesses, AcquireOptions(deadline: settings.claimDeadline)) {
            (isClaimed) async throws(SyncFailure) in
            var change = change
            change.yieldsToApps = !isClaimed
            return try await commit(change)
        }
    }

    /// Stages what is to be installed and installs it, as `commitCoordinated`; by one thread at one go, as passing it on costs
    /// more than either.
    func install(_ installation: Installation) async throws(SyncFailure) -> LocalChangeResult {
        let (committer, staging) = (committer, staging)
        return try await coordinated(installation.accesses, AcquireOptions(deadline: settings.claimDeadline)) {
            (isClaimed) async throws(SyncFailure) in
            try await commits.run { () async throws(SyncFailure) in
                try await pool.run { () throws(SyncFailure) in
                    try Installation.perform([installation], staging, committer, isClaimed: isClaimed)[0].get()
                }
            } ?? .busy
        }
    }

    /// The same with many, in order, where nobody coordinates: who begins to meanwhile finds the rest `.busy`. Each succeeds or
    /// fails for itself; together they are written through to the disk only once.
    func installTogether(_ installations: [Installation]) async -> [Result<LocalChangeResult, SyncFailure>] {
        await commits.run {
            await pool.run { [self] in
                Installation.perform(installations, staging, committer, turn: turn, isClaimed: false) { !isCoordinated }
            }
        } ?? installations.map { _ in .success(.busy) }
    }

    /// Runs `body` with a claim. Its purpose is that of the mount: programs that have a file open are no claims in the way,
    /// the compare-and-swap sees them.
    private func coordinated<Value: Sendable>(
        _ accesses: [Access], _ options: AcquireOptions,
        _ body: (_ isClaimed: Bool) async throws(SyncFailure) -> Value
    ) async throws(SyncFailure) -> Value {
        guard isCoordinated else { return try await body(false) }
        let coordinator = environment.coordinator
        let claim: Claim
        do {
            claim = try await coordinator.acquire(accesses, purpose: .mount, options)
        } catch {
            let items = accesses.map { "\($0.path)" }.joined(separator: ", ")
            throw SyncFailure(.later, "\(items): \(error)")
        }
        defer { coordinator.release(claim) }
        return try await body(true)
    }

    /// Tells presenters that observe them that ubiquity attributes of the item at a container's path may have changed.
    func announce(_ path: RelativePath, _ attributes: UbiquityAttribute...) {
        environment.coordinator.noteUbiquityAttributes(drivePath(path), Set(attributes.map(\.rawValue)))
    }

    /// After work of that length: while programs keep the drive busy, pauses for four times as long.
    func giveWay(after worked: Duration) async {
        guard committer.isBusy else { return }
        // Ends early only when the task is cancelled.
        try? await clock.sleep(min(max(worked * 4, .milliseconds(1)), .milliseconds(250)))
    }

    /// Records that the provider has this of an item's local state.
    ///
    /// - Parameter known: what the index had of it before that state was read; nil where nobody knows any more.
    func acknowledge(_ item: ItemID, _ base: BaseRecord, fingerprint: Fingerprint, known: Fingerprint?) {
        // Of what was written while it was read no fingerprint says that it is at the provider: it is compared once more.
        let wasWritten = openFiles.takeWasWritten(item)
        index.record(
            .acknowledged(
                StoreEvent.Acknowledgement(
                    item: item, base: base, fingerprint: fingerprint,
                    writersOpen: committer.isOpenForWriting(inode: fingerprint.inode) || wasWritten, known: known)))
    }

    /// Records what the provider has in place of an item, which stays to be sent over it.
    func acknowledgeChanged(_ item: ItemID, _ base: BaseRecord, fingerprint: Fingerprint) {
        // As of a file that is being written, of which no fingerprint says that it is at the provider.
        index.record(
            .acknowledged(
                StoreEvent.Acknowledgement(item: item, base: base, fingerprint: fingerprint, writersOpen: true)))
    }

    /// The record of what was sent, as the provider has it. What it keeps no attributes of has those that were sent.
    ///
    /// - Parameter mode: nil where it is not known which was sent.
    func base(of item: RemoteItem, checksum: ContentChecksum?, sent mtime: FileTime, mode: UInt16?) -> BaseRecord {
        var base = BaseRecord(container: container.id, item, checksum: checksum)
        if !provider.capabilities.attributes { (base.mtime, base.mode) = (mtime, mode) }
        if item.kind == .file, let mode { announceSent(base, mode) }
        return base
    }

    private func announceSent(_ base: BaseRecord, _ mode: UInt16) {
        announcements.sent(base.path, base.version, RemoteAttributes(mtime: base.mtime, mode: mode), self)
    }

    /// Whether a document's attributes are those of a listing, which are not what was uploaded, and nobody here has set others.
    func isOnlyListed(_ base: BaseRecord?, _ status: FileStatus) -> Bool {
        guard !provider.capabilities.attributes, let base else { return false }
        return base.mode == nil && base.mtime == status.mtime
    }

    /// The base's document, as a look at it alone shows it; nil where it is another by now.
    func uploaded(_ base: BaseRecord) async throws(SyncFailure) -> RemoteItem? {
        let item = try await ask { () throws(ProviderError) in try await provider.item(at: base.path) }
        return item?.version == base.version ? item : nil
    }

    /// Records that the provider has a base's item at another place now; returns the base of there.
    @discardableResult
    func recordMove(of base: BaseRecord, _ from: RelativePath, to item: RemoteItem) -> BaseRecord {
        var moved = BaseRecord(container: container.id, item, checksum: base.checksum).following(base)
        if !provider.capabilities.attributes { (moved.mtime, moved.mode) = (base.mtime, base.mode) }
        if moved.kind == .file, let mode = moved.mode { announceSent(moved, mode) }
        recentUploads.follow(base.version, to: moved.version)
        recordMoved(moved, from: from)
        return moved
    }

    /// Records that a base is at another place now, or another version. Who reads what it stands for reads on there.
    func recordMoved(_ base: BaseRecord, from: RelativePath) {
        index.record(.baseMoved(container: container.id, from: from, base))
        arriving.move(base, from: from)
    }

    /// Finds the provider, which must be the one that it was.
    func reach() async throws(SyncFailure) {
        try await ask { () throws(ProviderError) in
            do throws(ProviderError) { try await container.connect() } catch {
                if error.isOtherStore { foundStore.isAnother = true }
                throw error
            }
            foundStore.isAnother = false
        }
    }

    /// Why the provider as a whole cannot be used; nil where it can.
    func unreachable() async -> SyncFailure? {
        do {
            try await reach()
            return nil
        } catch {
            return error
        }
    }

    /// Of a failure that looks as if the provider were away: as one of what was asked for, where it is there.
    func located(_ failure: SyncFailure) async -> SyncFailure {
        guard failure.remedy == .offline, await unreachable() == nil else { return failure }
        return SyncFailure(.park, failure.message, errno: failure.errno)
    }

    /// Parks an item that fails again and again as if the provider were away, while that is there: everything else goes on.
    ///
    /// - Returns: its failure; nil where the provider may be away.
    func parkSuspect(
        _ subject: ParkedSubject, _ failure: SyncFailure, _ course: RoundCourse
    ) async -> SyncFailure? {
        guard failure.remedy == .offline, retries.isSuspect(subject) else { return nil }
        guard await course.look(unreachable) == nil else {
            retries.wasAway()
            return nil
        }
        let own = SyncFailure(.park, failure.message, errno: failure.errno)
        await park(subject, own)
        return own
    }

    /// Asks the provider.
    func ask<Value: Sendable>(
        _ body: () async throws(ProviderError) -> Value
    ) async throws(SyncFailure) -> Value {
        do { return try await body() } catch { throw SyncFailure(container.remedied(error)) }
    }

    /// Tells the user of a failure, and notes when to try again.
    ///
    /// - Parameter isSent: it failed on its way to the provider.
    func park(
        _ subject: ParkedSubject, _ failure: SyncFailure, unchanged: LocalEntry? = nil, isSent: Bool = false
    ) async {
        let waits = failure.remedy == .parkUntilChanged
        retries.failed(
            subject, unchanged: waits ? unchanged : nil, isFull: failure.errno == ENOSPC,
            isRefused: failure.remedy == .look || waits && isSent, clock: clock, limit: settings.longestBackoff)
        do {
            try await index.park(subject, message: failure.message, until: waits ? .changed : .retry)
        } catch {
            logger.info("cannot record a failure", metadata: ["error": "\(error)"])
        }
    }

    /// Takes back what `park` said.
    func unpark(_ subject: ParkedSubject) async {
        guard retries.succeeded(subject) else { return }
        do {
            try await index.unpark(subject)
        } catch {
            logger.info("cannot clear a failure", metadata: ["error": "\(error)"])
        }
    }
}

/// Provider paths whose base was renewed since the last listing began: the listing says nothing of them.
final class TouchedPaths: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let paths = Lock<Set<RelativePath>>([])

    func insert(_ path: RelativePath) { _ = paths.withLock { $0.insert(path) } }
    func contains(_ path: RelativePath) -> Bool { paths.withLock { $0.contains(path) } }
    func clear() { paths.withLock { $0 = [] } }
}

/// Documents that changed while they were sent: a snapshot of them is sent next.
final class RestlessDocuments: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let items = Lock<Set<ItemID>>([])

    func insert(_ item: ItemID) { _ = items.withLock { $0.insert(item) } }
    func remove(_ item: ItemID) { _ = items.withLock { $0.remove(item) } }
    func contains(_ item: ItemID) -> Bool { items.withLock { $0.contains(item) } }
}

extension LocalChange {
    /// What it is to those who coordinate.
    var accesses: [Access] {
        switch operation {
        case .install where expecting == .absent, .makeDirectory: [.writing(path)]
        // An app that has unsaved changes saves them first.
        case .install: [.writing(path, .merging)]
        case .setAttributes: [.writing(path, .contentIndependentMetadataOnly)]
        case .move(let destination): [.writing(path, .moving), .writing(destination, .replacing)]
        case .remove: [.writing(path, .deleting)]
        }
    }
}

/// What the provider said when it was asked of unanswered uploads.
final class OpenQuestions: Sendable {
    /// Whether some content got to some place, by whichever of its uploads.
    private struct Question: Hashable {
        var item: ItemID
        var path: RelativePath
        var checksum: ContentChecksum

        init(_ intent: UploadIntent) { (item, path, checksum) = (intent.item, intent.path, intent.checksum) }
    }

    private struct State {
        var rows: Set<Int64> = []
        var inVain: [Question: FileTime] = [:]
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// The provider had nothing of a row's upload.
    func insert(_ row: Int64) { _ = state.withLock { $0.rows.insert(row) } }
    func contains(_ row: Int64) -> Bool { state.withLock { $0.rows.contains(row) } }

    /// It did not say.
    ///
    /// - Parameter begun: when what is asked about was sent.
    /// - Returns: when that was that it had not said first.
    func askedInVain(_ intent: UploadIntent, begun: FileTime) -> FileTime {
        state.withLock { state in
            let question = Question(intent)
            let first = min(state.inVain[question] ?? begun, begun)
            state.inVain[question] = first
            return first
        }
    }

    /// Forgets what is asked of no more.
    func keep(only uploads: [UnansweredUpload]) {
        let (rows, questions) = (Set(uploads.map(\.row)), Set(uploads.map { Question($0.intent) }))
        state.withLock { state in
            state.rows.formIntersection(rows)
            state.inVain = state.inVain.filter { questions.contains($0.key) }
        }
    }

    /// It said something.
    func answered(_ intent: UploadIntent) { state.withLock { $0.inVain[Question(intent)] = nil } }
}

extension BaseRecord {
    /// What the provider tells of content that is still `former`'s: the size stays with the checksum where the provider has made
    /// something else of it that is to be brought yet (`ChangeSender.arrived`), which nothing but the size tells.
    func following(_ former: BaseRecord) -> BaseRecord {
        guard kind == .file, former.kind == .file, checksum != nil, checksum == former.checksum else { return self }
        var record = self
        record.size = former.size
        return record
    }
}
