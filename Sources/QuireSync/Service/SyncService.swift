package import Logging
import QuireCore
import QuireIndex
import QuireStore
import Synchronization

/// All synchronisation of one drive: an engine for each container that is kept at a provider of its own, and what the driver,
/// the command line and the control socket ask for.
///
/// `run` keeps everything in step by itself; all other calls work with and without it running, from any task.
package final class SyncService: Sendable {
    let environment: SyncEnvironment
    let logger: Logger
    /// Where rounds and transfers run. More threads than there are transfers: each may be copying something large.
    let pool: PoolExecutor
    /// What is being transferred now: an item's state is `uploading` or `downloading` while it is in here.
    package let transfers = TransferBoard()
    let downloads: DownloadRegistry
    let space: SpaceKeeper
    let pausing: PauseSwitch
    private let pinned: PinnedContent
    let arriving: ArrivingDocuments
    let checksums: MissingChecksums
    let containersChanged = WakeSignal()
    /// Innermost lock: nothing else is taken while it is held.
    let current: Lock<[SyncEngine]>

    package init(
        environment: SyncEnvironment, containers: [SyncedContainer], logger: Logger = Logger(label: "quire.sync")
    ) {
        self.environment = environment
        self.logger = logger
        pool = PoolExecutor(
            label: "quire-sync", width: environment.settings.parallelTransfers + 8, threadsGoOn: true)
        var left: [PartialContent.Left] = []
        do throws(StoreError) {
            left = try PartialContent.left(in: environment.partialPath, staging: environment.staging)
        } catch {
            logger.warning("what is here of documents in parts cannot be read", metadata: ["error": "\(error)"])
        }
        arriving = ArrivingDocuments(directory: environment.partialPath, staging: environment.staging, left: left)
        downloads = DownloadRegistry(executor: pool)
        pausing = PauseSwitch(clock: environment.clock)
        pinned = PinnedContent(
            index: environment.index, settings: environment.settings, clock: environment.clock, pause: pausing)
        checksums = MissingChecksums(environment, transfers: transfers, logger: logger)
        space = SpaceKeeper(environment, arriving: arriving, pool: pool, logger: logger)
        current = Lock([])
        current.withLock { $0 = makeEngines(containers) }
        space.setEvict({ [weak self] in await self?.makeDataless($0) ?? false }) { [weak self] in
            var missing: Int64 = 0
            for engine in self?.engines ?? [] { missing = missing.addingClamped(try await engine.missingBytes()) }
            return missing
        }
    }

    func makeEngines(_ containers: [SyncedContainer]) -> [SyncEngine] {
        containers.map { container in
            SyncEngine(
                context: SyncContext(
                    environment: environment, container: container, transfers: transfers, space: space, pause: pausing,
                    arriving: arriving,
                    pool: pool, logger: logger))
        }
    }

    var engines: [SyncEngine] { current.withLock { $0 } }

    /// The engine that keeps the item at a path below the drive's root.
    func engine(for path: RelativePath) -> SyncEngine? { Self.engine(for: path, of: engines) }

    static func engine(for path: RelativePath, of engines: [SyncEngine]) -> SyncEngine? {
        engines.filter { path.isInside($0.context.container.root) }
            .max { $0.context.container.root.bytes.count < $1.context.container.root.bytes.count }
    }

    func engine(of container: ContainerID) -> SyncEngine? { engines.first { $0.context.container.id == container } }

    // MARK: - running

    /// Runs all engines until the task is cancelled; returns when they have ended.
    package func run() async {
        await sweepArriving()
        while !Task.isCancelled {
            await withTaskGroup(of: Void.self) { group in
                let engines = engines
                for engine in engines {
                    group.addTask { await engine.run() }
                }
                group.addTask { [commits = environment.index.commits(), environment] in
                    for await _ in commits {
                        for engine in engines { engine.wake() }
                        // What was changed rests before it is sent: one look at it serves several batches. Ends early only
                        // when the task is cancelled.
                        try? await environment.clock.sleep(min(environment.settings.settleTime / 3, Self.betweenWakes))
                    }
                }
                group.addTask { [commits = environment.index.commits()] in await self.sweepArriving(after: commits) }
                group.addTask { [space] in await space.run() }
                group.addTask { await self.pinned.run(self.materialize) }
                group.addTask { [checksums] in await checksums.run() }
                await containersChanged.wait(atMost: .seconds(86_400 * 365), clock: environment.clock)
                group.cancelAll()
                await group.waitForAll()
            }
        }
        downloads.cancelAll()
    }

    /// Most that a change of the index waits for the round that looks at it.
    private static let betweenWakes = Duration.milliseconds(100)

    /// Goes on with other containers and providers, as after `quire container create`. What the engines do is broken off; `change`
    /// makes what the others begin with when nothing is under way any more. Where it throws, the engines go on.
    ///
    /// - Parameter patience: for how long what is under way is waited for; in the middle of a call it cannot be broken off.
    /// - Throws: `.temporary` where a call does not come back; what `change` throws.
    package func replaceContainers(
        _ containers: [SyncedContainer], patience: Duration = .seconds(10), after change: () async throws -> Void
    ) async throws {
        if let hanging = await pausing.hold(atMost: patience) {
            wake()
            guard !hanging.isEmpty else {
                throw QuireError(.temporary, "nothing was changed: the request was taken back")
            }
            throw QuireError(
                .temporary, "a call to \(hanging.joined(separator: ", ")) does not come back; nothing was changed",
                remedy: "Try again when it answers, or with the daemon stopped: `quire unmount`")
        }
        defer {
            pausing.release()
            wake()
        }
        let former = engines
        // Downloads and evictions go on beside the rounds.
        for engine in former { await engine.context.commits.close() }
        do { try await change() } catch {
            for engine in former { engine.context.commits.open() }
            throw error
        }
        replaceEngines(containers)
    }

    /// Has other engines begin. While nothing is under way.
    func replaceEngines(_ containers: [SyncedContainer]) {
        let engines = makeEngines(containers)
        let former = current.withLock { current in
            defer { current = engines }
            return current
        }
        for engine in former { engine.retire() }
        containersChanged.raise()
    }

    /// Starts rounds soon, and brings what is to be here.
    package func wake() {
        for engine in engines { engine.wake() }
        pinned.wake()
    }

    // MARK: - sync

    /// Pushes and pulls until nothing is pending, or until only the user can help.
    ///
    /// What was changed before the call is at the provider when this returns `.settled`.
    /// - Parameter timeout: nil waits for ever.
    package func syncNow(timeout: Duration?) async -> SyncResult {
        if let result = await within(timeout, syncUntilQuiet) { return result }
        return .timedOut(pending: await pendingCount())
    }

    /// Runs rounds for somebody who waits no longer than that; nil when time is up.
    private func within<Value: Sendable>(
        _ timeout: Duration?, _ body: @escaping @Sendable (SyncRequest) async -> Value
    ) async -> Value? {
        guard let timeout else { return await body(SyncRequest()) }
        let request = SyncRequest()
        let first = FirstAnswer<Value?>()
        // They end by themselves soon after the request is abandoned. A transfer under way is not broken off.
        let rounds = Task { first.give(await body(request)) }
        let result = await first.value(within: timeout, environment.clock, else: nil)
        request.abandon()
        if Task.isCancelled { rounds.cancel() }
        return result
    }

    private func syncUntilQuiet(_ request: SyncRequest) async -> SyncResult {
        do { try await environment.index.settle() } catch {
            // Said again by each round, until the disk lets it.
            logger.info("the index is behind", metadata: ["error": "\(error)"])
        }
        await environment.index.rescanFinished()
        for engine in engines {
            engine.context.retries.forgetPauses()
            engine.context.providerRoom.forgetPause()
            engine.expectForeignChanges()
        }
        if pausing.end == nil { await pinned.bringBackups(materialize) }
        let begin = environment.clock.uptime()
        var pulls = false
        while !Task.isCancelled, !request.isAbandoned {
            await pausing.released()
            if let end = pausing.end { return .paused(until: end, pending: await pendingCount()) }
            let reports = await roundOfAll(pulls: pulls, askedAt: begin)
            if let outcome = await outcome(reports) { return outcome }
            // The provider is listed when all is sent.
            pulls = reports.allSatisfy {
                !$0.madeProgress && !$0.push.gaveWay && $0.push.waiting + $0.push.busy + $0.push.beside == 0
            }
            let isWaiting =
                !pulls || reports.contains { $0.retriesSoon || $0.failure != nil || ($0.pull?.left ?? 0) > 0 }
            guard isWaiting, !reports.contains(where: { $0.madeProgress || $0.push.needsLook }) else { continue }
            if reports.contains(where: { $0.push.beside > 0 }) {
                await untilUploadEnds(within: .seconds(1))
            } else {
                // Something waits for its time, or is in use; or has failed, and is tried again with a pause.
                do { try await environment.clock.sleep(.milliseconds(pulls ? 250 : 50)) } catch { break }
            }
        }
        return .timedOut(pending: await pendingCount())
    }

    /// Returns when a large upload has ended that goes on beside the rounds, or patience is over.
    private func untilUploadEnds(within patience: Duration) async {
        await withTaskGroup { group in
            for engine in engines where engine.context.beside.count > 0 {
                group.addTask { await engine.context.beside.untilOneEnds(within: patience, self.environment.clock) }
            }
            _ = await group.next()
            group.cancelAll()
        }
    }

    private func roundOfAll(pulls: Bool, askedAt: Duration) async -> [RoundReport] {
        await withTaskGroup(of: RoundReport.self) { group in
            for engine in engines {
                group.addTask { await engine.round(isUrgent: true, pulls: pulls, askedAt: askedAt) }
            }
            var reports: [RoundReport] = []
            for await report in group { reports.append(report) }
            return reports
        }
    }

    /// Nil while another round may get on.
    private func outcome(_ reports: [RoundReport]) async -> SyncResult? {
        let online = reports.filter { $0.offline == nil }
        guard online.allSatisfy({ $0.isQuiet }) else { return nil }
        if let message = reports.compactMap(\.offline).first {
            return .unreachable(message: message, pending: await pendingCount())
        }
        var status = await status()
        if status.conflicts.isEmpty, status.errors.allSatisfy(\.isNotice), status.heldDeletions == 0 {
            // Where something failed, what waits for that is told by it.
            let blocked = reports.compactMap(\.push.blocked)
            if blocked.isEmpty { return .settled }
            status.errors += blocked
        }
        return .unresolved(
            conflicts: status.conflicts, errors: status.errors, heldDeletions: status.heldDeletions)
    }

    private func pendingCount() async -> Int { await status().pending.total }

    /// Believes that what is held now was deleted, here and at the providers (`quire sync --confirm-deletes`): what
    /// `status` counts as held, and nothing that goes missing later.
    ///
    /// Waits until the rescan is over and every provider was asked once since the start. One that cannot be reached is not waited
    /// for: of that nothing is confirmed. Nor is what a placeholder elsewhere needs: `status` tells of that.
    /// - Parameter timeout: nil waits for ever. Nothing is confirmed when time is up.
    /// - Returns: how much that is; with 0 nothing is other than it was. Nil where it is 0 and not all is known yet.
    package func confirmDeletions(timeout: Duration? = nil) async throws -> Int? {
        try await environment.index.settle()
        guard await within(timeout, compareOnce) == true else { return nil }
        var count = try await environment.index.confirmDeletions()
        let engines = engines
        for engine in engines { count += engine.confirmDeletions() }
        return count == 0 && !engines.allSatisfy(\.hasPulled) ? nil : count
    }

    /// Has everything here compared with the store, and with the providers, as after a start; whether it was waited for.
    private func compareOnce(_ request: SyncRequest) async -> Bool {
        await environment.index.rescanFinished()
        await pausing.released()
        if Task.isCancelled || request.isAbandoned { return false }
        await withTaskGroup { group in
            for engine in engines where !engine.hasPulled {
                group.addTask { _ = await engine.round(isUrgent: true, pulls: false) }
            }
        }
        return !Task.isCancelled && !request.isAbandoned
    }

    // MARK: - status

    /// Has the limits of space hold from now on; to be called before programs write.
    package func beginSpace() async { await space.look() }

    /// How the drive stands with its limits of space; nil where it has none. Looks anew, and evicts where it is time.
    package func spaceReport() async -> SpaceReport? { await space.report() }

    /// How everything stands; reads the index, asks no provider.
    package func status() async -> SyncStatus {
        var status = SyncStatus(transfers: transfers.current, engines: engines.map(\.status))
        status.pauseEnd = pausing.end
        status.pending.downloads = status.transfers.count { $0.direction == .download }
        do { try await environment.index.settle() } catch {
            // What it knows is told all the same.
            logger.info("the index is behind", metadata: ["error": "\(error)"])
            status.doubt = "the index is behind: \(error)"
        }
        status.doubt = environment.index.doubt ?? status.doubt
        do {
            for engine in engines {
                let container = engine.context.container.id
                status.pending.add(try await environment.index.pendingTotals(container))
                status.errors += try await environment.index.parked(container)
                status.errors += try await unseen(engine.context)
            }
            status.errors += environment.index.unreadPlaces().map(ParkedChange.init)
            status.errors += try await environment.index.strandedPlaceholders().map { stranded in
                ParkedChange(stranded, providerName: engine(of: stranded.container)?.context.container.providerName)
            }
            status.conflicts = try await environment.index.conflictCopies()
            status.held = try await heldDeletions()
        } catch {
            logger.info("the index cannot be read", metadata: ["error": "\(error)"])
            status.doubt = status.doubt ?? "the index cannot be read: \(error)"
        }
        return status
    }
}

extension SyncService {
    private func unseen(_ context: SyncContext) async throws -> [ParkedChange] {
        let notes = context.unseen.all
        guard !notes.isEmpty else { return [] }
        let known = try await context.index.items(drivePaths: notes.keys.map(context.drivePath))
        let here = Set(known.map(\.drivePath))
        return notes.map { ParkedChange($0, $1, context, isHere: here.contains(context.drivePath($0))) }
    }

    private func heldDeletions() async throws -> [HeldDeletionsReport] {
        var reports: [HeldDeletionsReport] = []
        for engine in engines {
            let container = engine.context.container
            let (count, first) = engine.heldDeletions(naming: DriveStatus.Held.mostPaths)
            guard count > 0 else { continue }
            reports.append(
                HeldDeletionsReport(
                    isMissingHere: false, providerName: container.providerName, count: count,
                    first: first.map(engine.context.drivePath)))
        }
        for held in try await environment.index.heldDeletions(naming: DriveStatus.Held.mostPaths) {
            let context = engine(of: held.container)?.context
            reports.append(
                HeldDeletionsReport(
                    isMissingHere: true, providerName: context?.container.providerName ?? "\(held.container)",
                    count: held.count, first: held.first.map { context?.drivePath($0) ?? $0 }))
        }
        return reports
    }
}

extension ParkedChange {
    /// A place of the store that cannot be looked at: nothing of it is sent or brought.
    fileprivate init(_ place: UnreadPlace) {
        self.init(subject: .item(place.directory), path: place.path, message: place.message, since: place.since)
    }

    /// A place of which a provider cannot tell what is there: nothing of it is brought or removed.
    ///
    /// - Parameter isHere: what is there was seen before, or was made here. Otherwise it may be nobody's, as `lost+found` is.
    fileprivate init(_ path: RelativePath, _ note: UnseenNotes.Note, _ context: SyncContext, isHere: Bool) {
        let reason = "it cannot be seen at \(context.container.providerName): \(note.reason)"
        self.init(
            subject: .base(context.container.id, path), path: context.drivePath(path),
            message: isHere
                ? "\(reason). What is here of it stays as it is; let Quire's account read it there, or move it out of the "
                    + "account's folder"
                : "\(reason). Nothing of it is here; if it is to be, let Quire's account read it there",
            since: note.since, isNotice: !isHere)
    }

    /// A placeholder that was moved to where it cannot have its content.
    init(_ stranded: StrandedPlaceholder, providerName: String?) {
        let place = providerName.map { "\(stranded.container) (at \($0))" } ?? "\(stranded.container)"
        self.init(
            subject: .item(stranded.id), path: stranded.path,
            message: "its content is in container \(place) only, as \(stranded.basePath), and stays there. Move it "
                + "back while the daemon is stopped; or delete it, and then quire sync --confirm-deletes deletes that",
            since: stranded.since)
    }
}

extension SyncStatus.Pending {
    fileprivate mutating func add(_ totals: PendingTotals) {
        uploads += totals.uploads
        renames += totals.moves
        deletions += totals.deletions
    }
}
