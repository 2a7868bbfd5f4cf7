import QuireCore
import QuireIndex
import QuireStore

/// What a push found and did.
struct PushResult: Sendable, Hashable {
    var sent = 0
    /// Changes that are not due yet.
    var waiting = 0
    /// Changes of items that changed or were in use meanwhile.
    var busy = 0
    /// Changes that failed and are parked.
    var failed = 0
    /// Deletions held until the user confirms them.
    var held = 0
    /// The provider has something else than expected: pull before the next push.
    var needsLook = false
    /// Something is left, as somebody else was to have a turn: the next round goes on at once.
    var gaveWay = false
    /// Large uploads that go on beside the rounds.
    var beside = 0
    /// Some of those have ended since the last push.
    var endedBeside = false
    /// When the next change is due.
    var nextDue: FileTime?
    /// One of the documents that wait for something that is in no part, if that stays so.
    var blocked: ParkedChange?

    var isComplete: Bool { waiting == 0 && busy == 0 && failed == 0 && held == 0 && !needsLook && !gaveWay }
}

/// Whom a push gives way to: who waits for a pull, and other devices' changes. What is under way ends first, but for large
/// uploads, which go on beside that.
struct OtherTurns: Sendable {
    /// Whether somebody is to have a turn.
    let isWanted: @Sendable () -> Bool
    /// Returns when somebody is, or the task was cancelled.
    let untilWanted: @Sendable () async -> Void
}

/// Sends what is pending and due to the provider, in an order in which it can be taken: a part after the other, each planned
/// by itself, the oldest changes first; what failed as if the provider were away comes after all else.
///
/// A part holds what its changes need (`PendingPart.needs`). A change that needs one that cannot go now waits with it; it
/// keeps nothing else waiting.
struct PushRound: Sendable {
    let context: SyncContext
    /// Somebody waits (`quire sync`): deletions wait no longer than edits do, files that are open are sent as they are.
    let isUrgent: Bool
    /// Since when, of the machine's uptime, the user waits for all: what was removed is deleted, whoever reads on; and what is
    /// open and never rests is sent once since then. Nil: no user does.
    var askedAt: Duration?
    /// Who else is to have a turn; nil where nobody is.
    var others: OtherTurns?

    /// Content of so many bytes or less is sent also while larger is waited for.
    private static let small: Int64 = 1 << 20
    /// For how long a provider is left alone that takes nothing.
    private static let rest = Duration.seconds(1)

    private var isAsked: Bool { askedAt != nil }
    /// Whether the user has waited for so long that what never rests is not left alone any more.
    private var isPatienceOver: Bool {
        askedAt.map { context.clock.uptime() - $0 >= context.settings.settleTime } ?? false
    }

    func run() async throws -> PushResult {
        var result = PushResult()
        let course = RoundCourse(context.failures)
        // Before the index is read: what has arrived is no longer pending in it.
        var refused = try await takeUpEnded(course, &result)
        try await context.index.settle()
        result.held = try await context.index.heldDeletions()
        // What changes while the round runs is left to the next.
        let begin = context.clock.now()
        if context.retries.hasSuspects { try await sweep(begin, sparesSuspects: true, course, &refused, &result) }
        if !result.gaveWay { try await sweep(begin, sparesSuspects: false, course, &refused, &result) }
        // Who asked is told what failed, and waits no longer.
        if course.isResting, !isAsked { result.wait(until: context.clock.now().advanced(by: Self.rest)) }
        result.beside = context.beside.count
        return result
    }

    /// Goes through all that is pending.
    ///
    /// - Parameter sparesSuspects: without what failed as if the provider were away, and what needs that: it may take long to fail
    ///   again. All of that is left to another sweep, which tells of it.
    private func sweep(
        _ begin: FileTime, sparesSuspects: Bool, _ course: RoundCourse, _ refused: inout Set<ParkedSubject>,
        _ result: inout PushResult
    ) async throws {
        var start: PendingCursor? = .start
        while let from = start {
            let part = try await part(from: from, begin, sparesSuspects: sparesSuspects)
            if !sparesSuspects { result.failed += part.skipped }
            if let since = part.nextChange { result.wait(until: since.advanced(by: context.settings.settleTime)) }
            if let since = part.nextDeletion { result.wait(until: since.advanced(by: deletionWait)) }
            let due = selectDue(part, refused, sparesSuspects: sparesSuspects, &result)
            if !due.isEmpty {
                let order = PushOrder(
                    due.map(\.item), directories: part.directories, temporaryName: TransitName.make())
                refused.formUnion(try await send(order, due.map(\.change), course, &result))
                // The next part is made from what this one led to.
                if part.next != nil || sparesSuspects { try await context.index.settle() }
            }
            if course.givesWay {
                result.gaveWay = true
                return
            }
            if course.isResting(.deletion), from == from.afterContent { return }
            start = course.isResting(.content) ? part.next?.afterContent : part.next
        }
    }

    private func part(
        from start: PendingCursor, _ begin: FileTime, sparesSuspects: Bool
    ) async throws -> PendingPart {
        let retries = context.retries
        let (now, uptime) = (context.clock.now(), context.clock.uptime())
        var request = PendingRequest(
            from: start, through: isPatienceOver ? begin : begin.advanced(by: .zero - context.settings.settleTime),
            deletionsThrough: begin.advanced(by: .zero - deletionWait), now: now, limit: context.settings.pushPart)
        if !retries.isEmpty {
            request.skips = { retries.isPausing($0, now: uptime) || sparesSuspects && retries.failedAsIfAway($0) }
        }
        return try await context.index.pending(context.container.id, request)
    }

}

extension LocalEntry {
    fileprivate var isChangedFile: Bool { facts.kind == .file && content == .changed }
}

extension PushResult {
    fileprivate mutating func wait(until time: FileTime) {
        waiting += 1
        nextDue = min(nextDue ?? time, time)
    }
}

// MARK: - what is due

extension PushRound {
    private struct Due: Sendable {
        var change: PendingChange
        var item: PushItem
    }

    /// What of the part can go now, with everything that it needs.
    private func selectDue(
        _ part: PendingPart, _ refused: Set<ParkedSubject>, sparesSuspects: Bool, _ result: inout PushResult
    ) -> [Due] {
        let now = context.clock.now()
        let read = isAsked ? [] : readOn(part)
        var (due, sendable): ([Due?], [Int]) = ([], [])
        for (position, change) in part.changes.enumerated() {
            var count = PushResult()
            // What others need is on the page also where it was not asked for.
            let isLeft =
                change.subject.map {
                    refused.contains($0) || sparesSuspects && context.retries.failedAsIfAway($0)
                } ?? true
            let item = isLeft ? nil : ready(change, now, isReadOn: read.contains(position), &count)
            due.append(part.needs[position] == nil ? nil : item.map { Due(change: change, item: $0) })
            guard position < part.asked else { continue }
            result.failed += count.failed
            result.needsLook = result.needsLook || count.needsLook
            if item != nil { sendable.append(position) }
            if let time = count.nextDue { result.wait(until: time) }
        }
        Self.dropThatNeedMissing(&due, part.needs)
        result.blocked =
            result.blocked ?? sendable.lazy.filter { due[$0] == nil }.compactMap { blocked(part.changes[$0]) }.first
        return due.compactMap(\.self)
    }

    private func blocked(_ change: PendingChange) -> ParkedChange? {
        guard let local = change.local, let subject = change.subject else { return nil }
        return ParkedChange(
            subject: subject, path: context.drivePath(local.path),
            message:
                "waits for what the provider has in its place, which waits itself; give it another name to have it sent",
            since: change.since)
    }

    /// The deletions of documents that programs read on, but for those that something else than deletions waits for.
    private func readOn(_ part: PendingPart) -> Set<Int> {
        let read = part.changes.indices.filter { position in
            guard part.changes[position].local == nil, let base = part.changes[position].base else { return false }
            return context.arriving.isRead(base)
        }
        guard !read.isEmpty else { return [] }
        var needed: Set<Int> = []
        var next = part.changes.indices.filter { part.changes[$0].local != nil }
        while let position = next.popLast() {
            for other in part.needs[position] ?? [] where needed.insert(other).inserted { next.append(other) }
        }
        return Set(read).subtracting(needed)
    }

    /// What to send of the change; nil when it cannot go now.
    private func ready(
        _ change: PendingChange, _ now: FileTime, isReadOn: Bool, _ result: inout PushResult
    ) -> PushItem? {
        guard let subject = change.subject else { return nil }
        // Counted as that.
        if context.beside.contains(subject) { return nil }
        if change.isInTransit {
            result.needsLook = true
            return nil
        }
        let neverRests = isAsked && isAlwaysWritten(change, now)
        if neverRests, let askedAt, let local = change.local, !change.isMoved,
            context.openFiles.hasArrived(local.id, since: askedAt)
        {
            return nil
        }
        if !context.retries.mayTry(subject, change.local, now: context.clock.uptime()) {
            result.failed += 1
            return nil
        }
        if !neverRests || !isPatienceOver || change.isMoved, let wait = waitingTime(change, now) {
            result.wait(until: now.advanced(by: wait))
            return nil
        }
        if isReadOn {
            result.wait(until: now.advanced(by: context.settings.deletionSettleTime))
            return nil
        }
        guard let item = pushItem(change) else { return nil }
        if let local = change.local {
            context.openFiles.noteTry(local.id, now: context.clock.uptime())
            if neverRests { context.openFiles.noteTaken(local.id, now: context.clock.uptime()) }
        }
        return item
    }

    /// Drops what needs something that does not go, and what needs that.
    private static func dropThatNeedMissing(_ due: inout [Due?], _ needs: [[Int]?]) {
        var needing: [Int: [Int]] = [:]
        for (position, needed) in needs.enumerated() {
            for other in needed ?? [] { needing[other, default: []].append(position) }
        }
        guard !needing.isEmpty else { return }
        var missing = due.indices.filter { due[$0] == nil }
        while let position = missing.popLast() {
            for other in needing[position] ?? [] where due[other] != nil {
                due[other] = nil
                missing.append(other)
            }
        }
    }

    private var deletionWait: Duration {
        isUrgent ? context.settings.settleTime : context.settings.deletionSettleTime
    }

    /// How long a change is to be left alone yet; nil when it is due. No change but a deletion waits for less than
    /// `settleTime`.
    func waitingTime(_ change: PendingChange, _ now: FileTime) -> Duration? {
        var quiet = change.local == nil ? deletionWait : context.settings.settleTime
        if change.isMoved { quiet = max(quiet, deletionWait) }
        let rest = rest(change, quiet, now)
        guard let local = change.local, !isUrgent, local.isChangedFile, isOpen(local) else { return rest }
        let idle = now.since(change.since)
        let limit = context.settings.openFileLimit
        let isOverdue = idle < .zero || idle >= limit
        let wait = context.openFiles.wait(
            local.id, local.fingerprint, now: context.clock.uptime(), quiet: context.settings.openFileQuietTime,
            isOverdue: isOverdue)
        return [rest, wait.map { isOverdue ? $0 : min($0, limit - idle) }].compactMap(\.self).max()
    }

    /// Whether it is open for writing, or a document that was written a moment ago.
    private func isAlwaysWritten(_ change: PendingChange, _ now: FileTime) -> Bool {
        guard let local = change.local, local.isChangedFile else { return false }
        return isOpen(local) || change.base != nil && rest(change, context.settings.settleTime, now) != nil
    }

    /// How long a change has not rested for `quiet` yet; nil when it has.
    private func rest(_ change: PendingChange, _ quiet: Duration, _ now: FileTime) -> Duration? {
        let idle = now.since(change.since)
        // A clock that was set back must not hold anything up.
        return idle >= .zero && idle < quiet ? quiet - idle : nil
    }

    /// Whether a program has it open for writing.
    private func isOpen(_ local: LocalEntry) -> Bool {
        context.committer.isOpenForWriting(inode: local.fingerprint.inode)
    }

    /// Nil where there is nothing to be sent: a snapshot of an open file that was sent already.
    private func pushItem(_ change: PendingChange) -> PushItem? {
        let contentChanged = change.local?.content == .changed
        if let local = change.local, change.base != nil, contentChanged, !change.isMoved, !change.attributesChanged,
            context.openFiles.isSent(local.id, local.fingerprint), isOpen(local)
        {
            return nil
        }
        return PushItem(
            kind: change.local?.facts.kind ?? change.base?.kind ?? .file, base: change.base?.path,
            local: change.local?.path,
            isMoved: change.isMoved, isChanged: contentChanged || change.attributesChanged || change.base == nil)
    }
}

// MARK: - sending

extension PushRound {
    /// - Returns: what was tried in vain.
    private func send(
        _ order: PushOrder, _ changes: [PendingChange], _ course: RoundCourse, _ result: inout PushResult
    ) async throws -> [ParkedSubject] {
        let occupied = OccupiedPlaces(context.beside.all)
        var undone = UndoneSteps()
        var refused: [ParkedSubject] = []
        func leave(_ step: PushOrder.Step, isUndone: Bool) {
            if isUndone { undone.insert(step, at: Self.paths(step, changes)) }
            refused += [changes[step.item].subject].compactMap(\.self)
        }
        for step in order.structure {
            let paths = Self.paths(step, changes)
            guard !undone.holdUp(step, at: paths) else {
                undone.insert(step, at: paths)
                continue
            }
            let waits = paths.contains(where: occupied.touches)
            let outcome = waits ? .waits : await attempt(step, .structure, changes, course)
            if outcome != .sent { leave(step, isUndone: true) }
            try note(outcome, &result)
        }
        let content = smallFirst(order.content, changes)
        for (kind, group) in [(RoundCourse.Kind.content, content)] + order.deletions.map({ (.deletion, $0) }) {
            // What is in the place of content that was not sent is as it was.
            let breaks = kind == .deletion
            var steps: [PushOrder.Step] = []
            for step in group {
                let paths = Self.paths(step, changes)
                if undone.holdUp(step, at: paths) {
                    if breaks { undone.insert(step, at: paths) }
                } else if paths.contains(where: occupied.touches) {
                    leave(step, isUndone: breaks)
                    try note(.waits, &result)
                } else {
                    steps.append(step)
                }
            }
            for (step, outcome) in await attempt(steps, kind, changes, course) {
                if outcome != .sent, outcome != .beside { leave(step, isUndone: breaks) }
                try note(outcome, &result)
            }
        }
        return refused
    }

    /// Carries out steps that are in nobody's way, several at one time.
    private func attempt(
        _ steps: [PushOrder.Step], _ kind: RoundCourse.Kind, _ changes: [PendingChange], _ course: RoundCourse
    ) async -> [(PushOrder.Step, SendOutcome)] {
        let most = context.settings.parallelTransfers
        return await withTaskGroup(of: Void.self) { watch in
            if let others, steps.contains(where: { !Self.isSmall($0, changes) }) {
                watch.addTask {
                    await others.untilWanted()
                    guard !Task.isCancelled else { return }
                    course.giveWay()
                    context.beside.leave()
                }
            }
            defer { watch.cancelAll() }
            return await forEach(steps, limit: { course.parallelism(most) - context.beside.count }) { step in
                let start = context.clock.uptime()
                let outcome = await attempt(step, kind, changes, course)
                if !isUrgent { await context.giveWay(after: context.clock.uptime() - start) }
                return (step, outcome)
            }
        }
    }

    /// Carries out a step, unless the provider turned out to be gone.
    private func attempt(
        _ step: PushOrder.Step, _ kind: RoundCourse.Kind, _ changes: [PendingChange], _ course: RoundCourse
    ) async -> SendOutcome {
        await course.lookEnds()
        if let failure = course.end { return .stop(failure) }
        if course.isResting(kind) { return .noRoom }
        let isSmall = Self.isSmall(step, changes)
        // What is small has a place left beside any number of others.
        guard isSmall || context.beside.count < context.settings.parallelTransfers else { return .waits }
        guard let beginning = course.begin(isSmall: isSmall, isWanted: { others?.isWanted() ?? false }) else {
            return .left
        }
        defer { course.ended(beginning) }
        let sender = ChangeSender(context: context, isUrgent: isUrgent)
        guard !isSmall, let upload = UploadBeside(step, changes) else {
            return await judged(await sender.send(step, changes), changes[step.item].subject, kind, course)
        }
        let outcome = await context.beside.run(upload, on: context.pool, isLeft: { course.isWanted }) { [context] in
            // What goes on beside the round is broken off by a pause for itself.
            await context.pause.unlessPaused(with: context.container.providerName) {
                await sender.send(step, changes)
            } ?? .later
        }
        if outcome == .beside { course.giveWay() }
        return await judged(outcome, upload.subject, kind, course)
    }

    /// Notes how uploads ended that a round before has left to themselves.
    ///
    /// - Returns: what did not arrive: not tried again before a pull, and who asks for lost answers, have looked at it.
    private func takeUpEnded(
        _ course: RoundCourse, _ result: inout PushResult
    ) async throws -> Set<ParkedSubject> {
        var refused: Set<ParkedSubject> = []
        var failure: SyncFailure?
        for (upload, ended) in context.beside.takeEnded() {
            result.endedBeside = true
            var outcome = ended
            // By a pause, or as another engine keeps the container.
            if case .stop(let failure) = ended, failure.remedy == .cancelled { outcome = .later }
            outcome = await judged(outcome, upload.subject, .content, course)
            if outcome != .sent { refused.insert(upload.subject) }
            do throws(SyncFailure) { try note(outcome, &result) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        return refused
    }

    /// What a step's end says of the provider, and so of what is left of the round.
    private func judged(
        _ outcome: SendOutcome, _ subject: ParkedSubject?, _ kind: RoundCourse.Kind, _ course: RoundCourse
    ) async -> SendOutcome {
        switch outcome {
        case .sent: course.succeeded(kind)
        case .stop(let failure):
            if let subject, await context.parkSuspect(subject, failure, course) != nil {
                course.noteAbsence(kind)
                return .parked
            }
            course.stop(failure)
        case .parked where course.failed():
            // That so much fails may have one reason, of which it is enough to be told once.
            if let failure = await course.look(context.unreachable) { return .stop(failure) }
        case .later, .look, .parked, .noRoom, .left, .beside, .waits: break
        }
        return outcome
    }

    /// What is soon done does not wait for what takes long, of the same part.
    private func smallFirst(_ steps: [PushOrder.Step], _ changes: [PendingChange]) -> [PushOrder.Step] {
        let isSmall = steps.map { Self.isSmall($0, changes) }
        guard isSmall.contains(false) else { return steps }
        let marked = zip(steps, isSmall)
        return marked.filter(\.1).map(\.0) + marked.filter { !$0.1 }.map(\.0)
    }

    private static func isSmall(_ step: PushOrder.Step, _ changes: [PendingChange]) -> Bool {
        guard case .send(let item, _, _) = step, let local = changes[item].local else { return true }
        return local.content != .changed || local.facts.size <= small
    }

    private func note(_ outcome: SendOutcome, _ result: inout PushResult) throws(SyncFailure) {
        switch outcome {
        case .sent: result.sent += 1
        case .later: result.busy += 1
        case .look: result.needsLook = true
        case .parked, .noRoom: result.failed += 1
        case .left: result.gaveWay = true
        // Said by `beside`.
        case .beside: break
        case .waits: result.waiting += 1
        case .stop(let failure): throw failure
        }
    }

    /// Where a step works: the item here, and the provider's paths.
    fileprivate static func paths(_ step: PushOrder.Step, _ changes: [PendingChange]) -> [RelativePath] {
        switch step {
        case .createDirectory(let item, let path), .send(let item, let path, _), .delete(let item, let path):
            [path, changes[item].local?.path].compactMap(\.self)
        case .move(let item, let from, let to, _): [from, to, changes[item].local?.path].compactMap(\.self)
        }
    }
}

extension UploadBeside {
    /// Nil for what is no document here.
    fileprivate init?(_ step: PushOrder.Step, _ changes: [PendingChange]) {
        guard let local = changes[step.item].local else { return nil }
        self.init(item: local.id, places: PushRound.paths(step, changes))
    }
}

extension PendingChange {
    /// Whether a pull has moved it out of the way, and has to go on with it.
    fileprivate var isInTransit: Bool { isMoved && base != nil && local?.path.name.map(TransitName.matches) == true }
}
