import Glibc
import Logging
import QuireCore
import Synchronization

/// Keeps one container and its provider equal.
///
/// Rounds are serialised; a round pushes, then pulls when it is time or when the push met something unexpected. Between rounds
/// it sleeps until the index commits something, the poll interval is over, a change becomes due, or somebody calls `wake`. Large
/// uploads may go on beside the rounds (`UploadsBeside`).
final class SyncEngine: Sendable {
    let context: SyncContext
    private let wakeUp = WakeSignal()
    /// Raised for who waits for a pull.
    private let readersCame = WakeSignal()
    private let gate = AsyncGate()
    /// Innermost lock: nothing else is taken while it is held.
    private let state: Lock<State>

    private struct State {
        var isConnected = false
        /// See `retire`.
        var isRetired = false
        var offline: String?
        var backoff = Backoff()
        /// By the machine's uptime.
        var retryAt: Duration?
        var lastPoll: FileTime?
        /// How long the last pull took.
        var pullTime = Duration.zero
        /// Who waits for a pull that has not begun.
        var readers: [FirstAnswer<Bool>] = []
        /// The last pull could not be ended.
        var pullFailed = false
        /// It left something as uploads went on there.
        var wasInTheWay = false
        var mustPull = true
        /// How many pulls in a row have left something for later, and done nothing else.
        var waits = 0
        /// As the last pull left it.
        var held: Set<HeldDeletion> = []
        /// What of that the user said was deleted indeed, until it is gone here, or at the provider again.
        var confirmed: Set<HeldDeletion> = []
        /// Where the last pull ended, if that brought everything here but what is held. The next one begins there, and the one
        /// after a start where nothing was held.
        var heldCursor: ChangeCursor?
    }

    init(context: SyncContext) {
        self.context = context
        state = Lock(State())
        context.beside.observe { [wakeUp] in wakeUp.raise() }
    }

    /// Starts a round soon.
    func wake() { wakeUp.raise() }

    /// Whether it was compared with the provider since the start: what is held is known.
    var hasPulled: Bool { state.withLock { $0.lastPoll != nil } }

    /// Whether a document is missing at the provider as far as is known, so that its content is here only: before the provider
    /// was asked after a start, each one may be, where some are; and while it has another store than before, all are.
    func isMissing(_ base: BaseRecord) async throws -> Bool {
        if context.missing.contains(base) { return true }
        return try await mayMissAll()
    }

    private func mayMissAll() async throws -> Bool {
        if context.foundStore.isAnother { return true }
        if hasPulled { return false }
        return try await context.index.value(holdingKey) != nil
    }

    /// How much content that could be evicted otherwise is missing at the provider in that sense, in bytes.
    func missingBytes() async throws -> Int64 {
        let (id, index) = (context.container.id, context.index)
        if try await mayMissAll() { return try await index.evictableBytes(id, of: nil) }
        let versions = context.missing.versions
        return versions.isEmpty ? 0 : try await index.evictableBytes(id, of: versions)
    }

    /// The next rounds believe that what is held now was deleted, and nothing that goes missing later.
    /// - Returns: how much that is.
    func confirmDeletions() -> Int {
        let count = state.withLock { state in
            let count = state.held.count
            state.confirmed.formUnion(state.held)
            state.held = []
            state.mustPull = state.mustPull || count > 0
            return count
        }
        if count > 0 { wake() }
        return count
    }

    /// What is missing at the provider and held here: how much, and the places of the first, by path.
    func heldDeletions(naming limit: Int) -> (count: Int, first: [RelativePath]) {
        let held = state.withLock { $0.held }
        let paths = held.map(\.path).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        return (held.count, Array(paths.prefix(limit)))
    }

    /// Whether a document is among that.
    func isHeld(_ base: BaseRecord) -> Bool { state.withLock { $0.held.contains(HeldDeletion(base)) } }

    /// How the provider stands.
    var status: EngineStatus {
        state.withLock { state in
            EngineStatus(
                container: context.container.id, providerName: context.container.providerName,
                isOnline: state.isConnected && state.offline == nil, message: state.offline, lastPoll: state.lastPoll)
        }
    }

    /// Does nothing from now on: another engine keeps the container. For when nothing is under way (`PauseSwitch.hold`).
    func retire() {
        state.withLock { $0.isRetired = true }
        wake()
    }

    private var isRetired: Bool { state.withLock { $0.isRetired } }

    /// Runs until the task is cancelled, or another engine keeps the container.
    func run() async {
        while !Task.isCancelled, !isRetired {
            let report = await round(isUrgent: false, pulls: isPollDue)
            let pause = self.pause(after: report)
            if pause > .zero { await wakeUp.wait(atMost: pause, clock: context.clock) }
            await programsFirst()
        }
        await context.beside.cancel()
    }

    /// Leaves the machine to programs while they make many requests, for a while.
    private func programsFirst() async {
        let start = context.clock.uptime()
        while !Task.isCancelled, context.committer.isBusy,
            context.clock.uptime() - start < context.settings.patience
        {
            // Ends early only when the task is cancelled.
            try? await context.clock.sleep(.milliseconds(50))
        }
    }

    /// Pushes what is due, and pulls if asked or needed. One at a time; others wait their turn.
    /// - Parameters:
    ///   - isUrgent: also when the provider was not there a moment ago.
    ///   - askedAt: since when, of the machine's uptime, the user waits for all to be sent, what programs are still at
    ///     included; nil: no user does.
    ///   - pushes: false where nothing is to be sent.
    func round(isUrgent: Bool, pulls: Bool, askedAt: Duration? = nil, pushes: Bool = true) async -> RoundReport {
        await inTurn { await self.serialRound(isUrgent, pulls: pulls, askedAt: askedAt, pushes: pushes) }
    }

    /// Runs a round when no other runs.
    private func inTurn(_ round: @escaping @Sendable () async -> RoundReport) async -> RoundReport {
        // Whoever asks for it: it reads and writes the store, and goes on where it is.
        await withTaskExecutorPreference(context.pool) {
            await gate.run {
                let report = await context.pause.unlessPaused(with: context.container.providerName, round)
                var result = report ?? RoundReport()
                result.pause = context.pause.end
                return result
            }
        }
    }

    /// Pulls for programs that wait, and sends nothing: what is being sent gives way once what is small of it has ended. All who
    /// come before it begins wait for the same.
    ///
    /// - Throws: where that lasts longer than a download may be silent; the pull comes about all the same.
    func pullForReader(of path: RelativePath) async throws(SyncFailure) {
        let answer = FirstAnswer<Bool>()
        let isFirst = state.withLock { state in
            state.readers.append(answer)
            return state.readers.count == 1
        }
        if isFirst {
            readersCame.raise()
            Task(executorPreference: context.pool) { await self.pullForReaders() }
        }
        guard await !answer.value(within: context.settings.downloadDeadline, context.clock, else: false) else { return }
        throw SyncFailure(
            Task.isCancelled ? .cancelled : .park,
            "\(path) is another at the provider than is known here, and is looked for when what is being sent has arrived; "
                + "try again then", errno: Task.isCancelled ? EINTR : ETIMEDOUT)
    }

    private func pullForReaders() async {
        let waiting = Lock<[FirstAnswer<Bool>]?>(nil)
        @Sendable func begin() {
            let readers = takeReaders()
            waiting.withLock { $0 = readers }
        }
        _ = await inTurn {
            begin()
            return await self.serialRound(true, pulls: true, askedAt: nil, pushes: false)
        }
        // In a pause nothing begins.
        let served = waiting.withLock { $0 } ?? takeReaders()
        for reader in served { reader.give(true) }
    }

    private func takeReaders() -> [FirstAnswer<Bool>] {
        state.withLock { state in
            defer { state.readers = [] }
            return state.readers
        }
    }

    /// Whether somebody waits so.
    var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

    private func serialRound(_ isUrgent: Bool, pulls: Bool, askedAt: Duration?, pushes: Bool) async -> RoundReport {
        var report = RoundReport()
        // Whoever asked may have found it before.
        guard !isRetired else { return report }
        let (retryAt, offline) = state.withLock { ($0.retryAt, $0.offline) }
        if !isUrgent, let retryAt, context.clock.uptime() < retryAt {
            report.offline = offline
            return report
        }
        do {
            try await connect()
            // Before anything is sent: a document that arrived under another name would be sent once more.
            report.answersFound = try await LostAnswers(context: context).find(again: false)
            let pullsFirst = state.withLock { $0.lastPoll == nil }
            if pullsFirst {
                let parked = try await context.index.parked(context.container.id)
                context.retries.adopt(parked.map(\.subject))
                report.pull = try await pull()
            }
            if pushes { report.push = try await push(isUrgent, askedAt) }
            try await tellOthers(isUrgent)
            let mustPull = state.withLock { state in
                // What is to be looked at may be in the store, with nothing changed at the provider. And what uploads were in the
                // way of may not be told again.
                let isFree = state.wasInTheWay && report.push.endedBeside
                state.mustPull = state.mustPull || report.push.needsLook || isFree
                return state.mustPull
            }
            if pulls && !pullsFirst || mustPull || report.push.gaveWay && isPollDue {
                report.answersFound += try await LostAnswers(context: context).find(again: true)
                report.pull = try await pull()
            }
            try await clearSettled(report)
            state.withLock { ($0.offline, $0.backoff) = (nil, Backoff()) }
            report.retriesSoon = report.parked > 0 && context.retries.hasFreshFailures
            await noteQuota(changed: report.madeProgress)
        } catch let failure as SyncFailure {
            note(failure, &report)
        } catch {
            report.failure = "\(error)"
            context.logger.info(
                "a round ended early", metadata: ["error": "\(error)", "container": "\(context.container.id)"])
        }
        return report
    }

    /// That this fails is no reason to stop: only what statfs tells depends on it.
    private func noteQuota(changed: Bool) async {
        do {
            try await context.quota.note(context, changed: changed)
        } catch {
            context.logger.info("what the provider has left is not known", metadata: ["error": "\(error)"])
        }
    }

    /// That this fails otherwise than by the network is no reason to stop: it is tried again with a later round.
    private func tellOthers(_ isUrgent: Bool) async throws {
        do throws(SyncFailure) {
            try await context.announcements.tell(context, isUrgent: isUrgent)
        } catch {
            if error.remedy == .offline || error.remedy == .cancelled { throw error }
            context.logger.info("other devices were not told of changes", metadata: ["error": "\(error.message)"])
        }
    }

    /// The next look at the provider is one at everything, where it might otherwise be at what devices tell each other.
    func expectForeignChanges() {
        guard context.provider.capabilities.announcements else { return }
        state.withLock { $0.mustPull = true }
    }

    /// Takes back what was said of changes that are none any more.
    private func clearSettled(_ report: RoundReport) async throws {
        guard let pull = report.pull else { return }
        let failed = context.retries.subjects.filter { !pull.failed.contains($0) && !pull.waiting.contains($0) }
        guard !failed.isEmpty else { return }
        let pending = try await context.index.pending(of: failed, in: context.container.id)
        for subject in failed where !pending.contains(subject) { await context.unpark(subject) }
    }

    private func note(_ failure: SyncFailure, _ report: inout RoundReport) {
        switch failure.remedy {
        // Where not one item failed but the whole, a listing or the way in, the provider is of no use for now.
        case .offline, .look, .park, .parkUntilChanged:
            report.offline = failure.message
            state.withLock { state in
                state.isConnected = false
                state.offline = failure.message
                let pause = state.backoff.next(limit: context.settings.longestBackoff, random: context.clock.random())
                state.retryAt = context.clock.uptime() + pause
            }
        case .later, .cancelled:
            report.failure = failure.message
        }
    }

    // MARK: - provider

    /// Makes sure that the provider is there and is the one it was.
    func connect() async throws {
        guard !state.withLock({ $0.isConnected }) else { return }
        try await reach()
        context.quota.forget()
        try await context.requireConditions()
        let wasOffline = state.withLock { state in
            state.isConnected = true
            state.retryAt = nil
            state.mustPull = true
            return state.offline != nil
        }
        // It counts as there once a round was of use.
        if wasOffline { wake() }
    }

    /// Reaches the provider, which has to decide as it did before.
    private func reach() async throws {
        let key = SyncedContainer.decisionKey(of: context.container.providerName)
        let decided = try await context.index.value(key)
        if let decided { context.provider.recall(decided) }
        do { try await context.reach() } catch {
            context.retries.wasAway()
            throw error
        }
        // Before anything is recorded that depends on it.
        if let decision = context.provider.decision, decision != decided {
            try await context.index.setValue(key, decision)
        }
    }

    /// A download met a provider that is not there.
    func disconnected(_ message: String) {
        state.withLock { state in
            state.isConnected = false
            state.offline = message
        }
        wake()
    }

    private func push(_ isUrgent: Bool, _ askedAt: Duration?) async throws -> PushResult {
        do {
            let begin = context.clock.now()
            let push = PushRound(
                context: context, isUrgent: isUrgent, askedAt: askedAt,
                others: OtherTurns(
                    isWanted: { self.timeToSend(since: begin) <= .zero },
                    untilWanted: { await self.untilGivesWay(since: begin) }))
            let result = try await push.run()
            // A cursor that is a digest of the listing is the same again once somebody has undone what was sent.
            if result.sent > 0, !context.provider.capabilities.announcements {
                try await context.index.setValue(context.container.cursorKey, nil)
                state.withLock { $0.heldCursor = nil }
            }
            return result
        } catch {
            // Some may have been sent.
            state.withLock { $0.mustPull = true }
            throw error
        }
    }

    /// There as long as deletions at the provider are held; how many there were at first.
    private var holdingKey: String { "held.\(context.container.id)" }

    private func pull() async throws -> PullResult {
        let key = context.container.cursorKey
        let cursor = try await context.index.value(key).map { ChangeCursor($0) }
        let (started, begin) = (context.clock.now(), context.clock.uptime())
        // After anything unexpected only a whole listing tells.
        let (whole, former) = state.withLock { state in
            defer { state.mustPull = false }
            return (state.mustPull, state)
        }
        let confirmed = former.confirmed
        do {
            let wasHolding = try await context.index.value(holdingKey) != nil
            let round = PullRound(
                context: context, confirmed: confirmed, held: former.held, isHolding: wasHolding,
                isToldAll: former.heldCursor == nil && !context.provider.capabilities.announcements,
                occupied: OccupiedPlaces(context.beside.all))
            let (result, next) = try await round.run(since: former.heldCursor ?? cursor, isWhole: whole)
            if result.isComplete, next != cursor { try await context.index.setValue(key, next?.rawValue) }
            // Held is also what was not looked at.
            if result.held.isEmpty == wasHolding, !result.seeksHeld, !(wasHolding && result.isInTheWay) {
                try await context.index.setValue(holdingKey, wasHolding ? nil : "\(result.held.count)")
            }
            context.missing.set(result.held.union(result.believed))
            state.withLock { state in
                if !result.failed.isEmpty || result.left > 0 {
                    state.mustPull = state.mustPull || result.left > 0 || result.applied > 0
                }
                state.waits = result.left > 0 && result.applied == 0 ? state.waits + 1 : 0
                state.heldCursor = result.isDone && !result.held.isEmpty ? next : nil
                state.lastPoll = started
                state.pullTime = context.clock.uptime() - begin
                state.pullFailed = false
                state.wasInTheWay = result.isInTheWay
                // What was confirmed meanwhile is for the next pull.
                state.confirmed.subtract(confirmed.subtracting(result.believed))
                state.held = result.held.subtracting(state.confirmed)
            }
            return result
        } catch {
            state.withLock { ($0.mustPull, $0.pullFailed) = (true, true) }
            throw error
        }
    }

    // MARK: - time

    /// For how much longer what has been sent since `begin` does not give way, if nobody comes who waits for a pull: to other
    /// devices' changes as often as these are looked for, but most of the time is for sending.
    private func timeToSend(since begin: FileTime) -> Duration {
        let state = state.withLock { $0 }
        if !state.readers.isEmpty { return .zero }
        let rest = max(context.settings.pollInterval, state.pullTime * 4)
        // One that fails each time would end each push after so long, and all that follows it.
        guard let lastPoll = state.lastPoll, !state.pullFailed else { return rest }
        return rest - context.clock.now().since(max(lastPoll, begin))
    }

    /// Returns when it gives way, or the task was cancelled. For one push at a time.
    private func untilGivesWay(since begin: FileTime) async {
        while !Task.isCancelled {
            let time = timeToSend(since: begin)
            guard time > .zero else { return }
            await readersCame.wait(atMost: time, clock: context.clock)
        }
    }

    private var isPollDue: Bool {
        guard let last = state.withLock({ $0.lastPoll }) else { return true }
        let idle = context.clock.now().since(last)
        return idle < .zero || idle >= context.settings.pollInterval
    }

    /// How long nothing is to be done after a round, unless somebody wakes the engine.
    func pause(after report: RoundReport) -> Duration {
        if context.pause.isHeld { return .milliseconds(500) }
        let (now, uptime) = (context.clock.now(), context.clock.uptime())
        if let end = report.pause {
            guard case .at(let time) = end else { return .seconds(86_400) }
            return min(.seconds(86_400), max(.milliseconds(10), time.since(now)))
        }
        let (retryAt, lastPoll, waits) = state.withLock { ($0.retryAt, $0.lastPoll, $0.waits) }
        if let retryAt { return max(.milliseconds(10), retryAt - uptime) }
        if report.push.needsLook { return .milliseconds(100) }
        if report.push.gaveWay { return .milliseconds(1) }
        if report.madeProgress { return .milliseconds(1) }
        var pause = context.settings.pollInterval
        if let lastPoll { pause = min(pause, lastPoll.advanced(by: pause).since(now)) }
        if let due = report.push.nextDue { pause = min(pause, due.since(now)) }
        if report.parked > 0, let due = context.retries.nextAttempt {
            pause = min(pause, max(.seconds(1), due - uptime))
        }
        if report.push.busy > 0 || report.failure != nil { pause = min(pause, .milliseconds(500)) }
        // What is open may be so for hours, and each look is at a whole listing.
        if (report.pull?.left ?? 0) > 0 { pause = min(pause, .milliseconds(500) * (1 << max(0, min(waits - 1, 4)))) }
        return max(.milliseconds(10), pause)
    }
}
