import Glibc
import Logging
import QuireCore
import QuireStore
import Synchronization

/// A document whose content comes here in parts, as it is read or downloaded: one object for all who want it.
///
/// What is missing of what somebody wants is brought by transfers, each of one contiguous range; everybody whose bytes have
/// arrived goes on, whoever asked for them. All bytes are of one version, and of those that changes of ours made of it
/// at the provider, of time, mode or place.
final class ArrivingDocument: Sendable {
    /// Brings a range of the document's bytes into the file; `progress` with how much of it is there for certain.
    typealias Bring =
        @Sendable (ArrivingDocument, _ range: Range<Int64>, _ progress: @escaping @Sendable (ByteCount) -> Void)
        async throws(SyncFailure) -> Void

    typealias Outcome = Result<Void, SyncFailure>

    private struct Waiter {
        let range: Range<Int64>
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        /// Which all have the same bytes; the last is the provider's now.
        var versions: [ProviderVersion]
        /// What the index had of it last.
        var base: BaseRecord?
        /// Changes of ours that are being made at the provider, and how many are over.
        var changes = UnderWay()
        var changesMade = 0
        var present: RangeSet<Int64>
        /// On their way; disjoint, and without what of them has arrived.
        var coming: [UInt64: Range<Int64>] = [:]
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var waiters: [UInt64: Waiter] = [:]
        var next: UInt64 = 0
        var readers = 0
        /// What has arrived since the map was written.
        var unsaved: Int64 = 0
        /// Why no more of it comes, ever.
        var ended: SyncFailure?
    }

    /// As it was found; see `subject`.
    let content: PartialContent
    /// Open for reading.
    let file: OwnedDescriptor
    private let bring: Bring
    private let pool: PoolExecutor
    private let board: TransferBoard
    private let noted: @Sendable () -> Void
    private let whole: @Sendable () -> Void
    private let logger: Logger
    /// Held while the map is written or removed. Taken before `state`.
    private let saving = Lock(())
    /// Innermost lock: nothing else is taken while it is held; waiters are resumed outside.
    private let state: Lock<State>

    /// The map is written whenever this much has arrived since, and when nothing is on its way.
    private static let savedEvery: Int64 = 64 << 20
    /// How many versions are remembered: the index hears of each a moment later.
    private static let mostVersions = 8

    /// Finds what is here already. Blocks.
    ///
    /// - Parameters:
    ///   - pool: where the map is written.
    ///   - board: shows how much is here while some is on its way.
    ///   - noted: called whenever some has arrived, before who waits for it goes on; on any thread, with no lock held.
    ///   - whole: called once each time that the last of it has arrived for a reader.
    init(
        _ subject: PartialContent.Subject, in directory: String, staging: Staging, pool: PoolExecutor,
        board: TransferBoard, logger: Logger, bring: @escaping Bring,
        noted: @escaping @Sendable () -> Void, whole: @escaping @Sendable () -> Void
    ) throws(StoreError) {
        let (content, present) = try PartialContent.open(subject, in: directory, staging: staging)
        self.content = content
        file = try content.reading()
        (self.pool, self.board, self.logger, self.bring) = (pool, board, logger, bring)
        (self.noted, self.whole) = (noted, whole)
        state = Lock(State(versions: [subject.version], present: present))
    }

    /// What it is the content of, in the version that the provider has as far as is known.
    var subject: PartialContent.Subject {
        var subject = content.subject
        if let version = state.withLock({ $0.versions.last }) { subject.version = version }
        return subject
    }

    /// Whether its bytes are that version's.
    func isOf(_ version: ProviderVersion) -> Bool { state.withLock { $0.versions.contains(version) } }

    /// Whether its bytes are a subject's.
    func isOf(_ subject: PartialContent.Subject) -> Bool {
        var same = content.subject
        same.version = subject.version
        return same == subject && isOf(subject.version)
    }

    /// What the index had of it last: of one that was removed here, and is read still, it has nothing.
    var base: BaseRecord? {
        get { state.withLock { $0.base } }
        set { state.withLock { $0.base = newValue } }
    }

    /// As `ArrivingDocuments.move`.
    func move(_ moved: BaseRecord, from: RelativePath) {
        state.withLock { state in
            guard var base = state.base, base.container == moved.container else { return }
            if base.path == from, moved.kind == .file {
                state.base = moved
            } else if moved.kind == .directory, let rest = base.path.removing(ancestor: from) {
                base.path = moved.path.appending(rest)
                state.base = base
            }
        }
    }

    var size: Int64 { content.subject.size }

    /// How much is here.
    var arrived: ByteCount { ByteCount(state.withLock { $0.present.total }) }

    /// Whether no more of it comes.
    var hasEnded: Bool { state.withLock { $0.ended != nil } }

    /// Whether all these bytes are here; then has what is missing of `more` brought.
    func isHere(_ range: Range<Int64>, wanting more: Range<Int64>) -> Bool {
        let (isHere, runs) = state.withLock { state in
            let isHere = state.present.covers(range)
            return (isHere, isHere && state.ended == nil ? Self.start(more, &state) : [])
        }
        for (number, run) in runs { begin(number, run) }
        return isHere
    }

    // MARK: - readers

    /// One more reads it.
    func enter() { state.withLock { $0.readers += 1 } }

    /// One less. What is on its way for nobody is given up.
    func leave() {
        let tasks = state.withLock { state in
            state.readers -= 1
            return Self.giveUp(&state)
        }
        for task in tasks { task.cancel() }
    }

    /// The transfers that nobody waits for, to be cancelled; the last block of one is worth having. What they bring no more
    /// is not on its way from now on, so that whoever comes has it brought anew.
    private static func giveUp(_ state: inout State) -> [Task<Void, Never>] {
        guard state.readers == 0, state.waiters.isEmpty else { return [] }
        return state.tasks.compactMap { number, task in
            guard let run = state.coming[number], run.count > Int(ReadAhead.block) else { return nil }
            state.coming[number] = nil
            return task
        }
    }

    /// Whether somebody reads it or waits for it.
    var isInUse: Bool { state.withLock { $0.readers > 0 || !$0.waiters.isEmpty } }

    /// Returns when these bytes are here. Cancelling the task ends this wait.
    ///
    /// - Parameter wanted: what is brought along; how that ends counts as well, however soon it does.
    func wait(for range: Range<Int64>, bringing wanted: Range<Int64> = 0..<0) async throws(SyncFailure) {
        let ticket = state.withLock { state in
            state.next += 1
            return state.next
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, runs) = state.withLock { state -> (Outcome?, [(UInt64, Range<Int64>)]) in
                    let isHere = state.present.covers(range)
                    if let ended = state.ended { return (isHere ? .success(()) : .failure(ended), []) }
                    var runs = Self.start(wanted, &state)
                    if isHere { return (.success(()), runs) }
                    runs += Self.start(range, &state)
                    state.waiters[ticket] = Waiter(range: range, continuation: continuation)
                    return (nil, runs)
                }
                if let answer { continuation.resume(returning: answer) }
                for (number, run) in runs { begin(number, run) }
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            cancel(ticket)
        }
        try outcome.get()
    }

    private func cancel(_ ticket: UInt64) {
        let (waiter, tasks) = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: ticket)
            return (waiter, waiter == nil ? [] : Self.giveUp(&state))
        }
        waiter?.continuation.resume(returning: .failure(SyncFailure(.cancelled, "interrupted", errno: EINTR)))
        for task in tasks { task.cancel() }
    }

    // MARK: - changes at the provider

    /// A change of ours of its time, mode or place is about to be made at the provider: what is not found there in its
    /// version is looked for again when it is over. To be followed by `endChange`.
    func beginChange() { state.withLock { $0.changes.begin() } }

    /// The change is over.
    func endChange() {
        let waiting = state.withLock { state in
            state.changesMade += 1
            return state.changes.end()
        }
        for waiter in waiting { waiter.resume() }
    }

    /// What was one version's is another's from now on, with the same bytes.
    func follow(_ former: ProviderVersion, _ version: ProviderVersion) {
        let mustSave = state.withLock { state in
            guard state.versions.last == former, former != version else { return false }
            state.versions = state.versions.suffix(Self.mostVersions - 1) + [version]
            // Perhaps nobody used it when the change began.
            state.changesMade += 1
            return true
        }
        if mustSave { saveSoon() }
    }

    /// Waits for changes that are being made; whether some were since there were so many.
    private func isChanged(since made: Int) async -> Bool {
        await withCheckedContinuation { waiter in state.withLock { $0.changes.wait(waiter) }?.resume() }
        return state.withLock { $0.changesMade } != made
    }

    // MARK: - transfers

    /// Notes transfers for what is neither here nor on its way.
    private static func start(_ range: Range<Int64>, _ state: inout State) -> [(UInt64, Range<Int64>)] {
        if state.present.covers(range) { return [] }
        var missing = RangeSet(range)
        for known in state.present.intersection(missing).ranges { missing.remove(contentsOf: known) }
        for coming in state.coming.values { missing.remove(contentsOf: coming) }
        return missing.ranges.map { run in
            state.next += 1
            state.coming[state.next] = run
            return (state.next, run)
        }
    }

    private func begin(_ number: UInt64, _ run: Range<Int64>) {
        board.begin(content.subject.item, .download, total: ByteCount(size))
        // Owned by this document: it outlives who asked, as others may wait, and ends with `leave`, `end` or by itself.
        let task = Task {
            let outcome = await transfer(number, run)
            finish(number, outcome)
        }
        let isOver = state.withLock { state in
            if state.coming[number] != nil { state.tasks[number] = task }
            return state.ended != nil
        }
        if isOver { task.cancel() }
    }

    /// Brings a run; where it was cut, goes on from there as long as it gets on.
    private func transfer(_ number: UInt64, _ run: Range<Int64>) async -> Outcome {
        var start = run.lowerBound
        while true {
            let made = state.withLock { $0.changesMade }
            do throws(SyncFailure) {
                let from = start
                try await bring(self, from..<run.upperBound) { [weak self] count in
                    self?.note(number, from..<from + count.bytes)
                }
                note(number, from..<run.upperBound)
                return .success(())
            } catch {
                // It may only be in another place, or another version of the same.
                let isChanged = error.remedy == .look ? await isChanged(since: made) : false
                let rest = state.withLock { $0.coming[number]?.lowerBound } ?? run.upperBound
                if isChanged, rest < run.upperBound, !Task.isCancelled {
                    start = rest
                    continue
                }
                guard rest > start, [.offline, .park].contains(error.remedy), !Task.isCancelled else {
                    return .failure(error)
                }
                start = rest
            }
        }
    }

    /// Bytes have arrived.
    private func note(_ number: UInt64, _ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let (ready, arrived, isWhole, save) = state.withLock { state in
            guard let coming = state.coming[number] else { return ([Waiter](), Int64(0), false, false) }
            let before = state.present.total
            state.present.insert(contentsOf: range)
            state.coming[number] = max(coming.lowerBound, range.upperBound)..<coming.upperBound
            let arrived = state.present.total
            state.unsaved += arrived - before
            let isDue = state.unsaved >= Self.savedEvery
            if isDue { state.unsaved = 0 }
            let tickets = state.waiters.filter { state.present.covers($0.value.range) }.keys
            let ready = tickets.compactMap { state.waiters.removeValue(forKey: $0) }
            return (ready, arrived, arrived == size && arrived > before && state.readers > 0, isDue)
        }
        if arrived > 0 {
            noted()
            board.progress(content.subject.item, ByteCount(arrived))
        }
        for waiter in ready { waiter.continuation.resume(returning: .success(())) }
        if save { saveSoon() }
        if isWhole { whole() }
    }

    /// A transfer is over. Who waits for what it did not bring learns why.
    private func finish(_ number: UInt64, _ outcome: Outcome) {
        let (failed, isIdle, mustSave, isWhole) = state.withLock { state in
            state.tasks[number] = nil
            let rest = state.coming.removeValue(forKey: number)
            if case .failure(let failure) = outcome, failure.remedy == .look { state.ended = failure }
            var failed: [Waiter] = []
            if case .failure = outcome, let rest {
                let tickets = state.waiters.filter { state.ended != nil || $0.value.range.overlaps(rest) }.keys
                failed = tickets.compactMap { state.waiters.removeValue(forKey: $0) }
            }
            let isIdle = state.coming.isEmpty
            let mustSave = isIdle && state.unsaved > 0 && state.ended == nil
            if mustSave { state.unsaved = 0 }
            return (failed, isIdle, mustSave, state.present.total == size)
        }
        for waiter in failed { waiter.continuation.resume(returning: outcome) }
        if isIdle { board.end(content.subject.item, arrived: isWhole) }
        if mustSave { saveSoon() }
    }

    private func saveSoon() {
        pool.submit { [self] in
            saving.withLock { _ in
                let (present, version, isOver) = state.withLock { ($0.present, $0.versions.last, $0.ended != nil) }
                guard !isOver, let version else { return }
                do throws(StoreError) {
                    try content.of(version).save(present)
                } catch {
                    // Without it only what arrived since has to come again after a crash.
                    logger.info("the map of a partial document was not written", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Ends it and removes bytes and map. Blocks until a map that is being written is there: written afterwards, it would be
    /// taken for that of the next file.
    func discard(_ failure: SyncFailure) {
        end(failure)
        saving.withLock { _ in content.discard() }
    }

    /// No more of it comes: the provider has another version, or it is wanted no more. Who waits gets `failure`; who has it
    /// open can go on reading what was here.
    private func end(_ failure: SyncFailure) {
        let (tasks, waiters) = state.withLock { state in
            state.ended = state.ended ?? failure
            defer { state.waiters = [:] }
            return (Array(state.tasks.values), Array(state.waiters.values))
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(failure)) }
        for task in tasks { task.cancel() }
    }
}

extension RangeSet where Bound == Int64 {
    /// How many bytes are in it.
    fileprivate var total: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// Whether all of a range is in it.
    fileprivate func covers(_ range: Range<Int64>) -> Bool {
        range.isEmpty || ranges.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }
}
