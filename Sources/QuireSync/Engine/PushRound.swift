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
    /// All that is pending.
    var pending: Set<ParkedSubject> = []
    /// When the next change is due.
    var nextDue: FileTime?

    var isComplete: Bool { waiting == 0 && busy == 0 && failed == 0 && held == 0 && !needsLook }
}

/// Sends what is pending and due to the provider, in an order in which it can be taken.
struct PushRound: Sendable {
    let context: SyncContext
    /// Somebody waits (`quire sync`): deletions wait no longer than edits do, files that are open are sent as they are.
    let isUrgent: Bool
    func run() async throws -> PushResult {
        try await context.index.settle()
        let pending = try await context.index.pending(context.container.id)
        var result = PushResult(pending: Set(pending.compactMap(\.subject)))
        result.held = try await context.index.heldDeletions()
        guard !pending.isEmpty else { return result }
        let due = selectDue(pending, &result)
        guard !due.isEmpty else { return result }
        let order = PushOrder(
            due.map(\.item), directories: try await directories(due), temporaryName: Self.temporaryName())
        try await send(order, due.map(\.change), &result)
        return result
    }

    private static func temporaryName() -> FileName {
        FileName(unchecked: Array(".quire-moving-\(String(UInt64.random(in: 0 ... .max), radix: 36))".utf8))
    }

    /// The provider's paths of the directories in which the changes lie.
    private func directories(_ due: [Due]) async throws -> [RelativePath: RelativePath] {
        var paths: [RelativePath: RelativePath] = [:]
        for parent in Set(due.compactMap { $0.item.local?.parent }) where !parent.isRoot {
            if let base = try await context.index.item(drivePath: context.drivePath(parent))?.base {
                paths[parent] = base.path
            }
        }
        return paths
    }
}

// MARK: - what is due

extension PushRound {
    private struct Due: Sendable {
        var change: PendingChange
        var item: PushItem
    }

    private func selectDue(_ pending: [PendingChange], _ result: inout PushResult) -> [Due] {
        let now = context.clock.now()
        var due: [Due] = []
        for change in pending.sorted(by: { $0.since < $1.since }) {
            guard let subject = change.subject else { continue }
            if !context.retries.mayTry(subject, change.local, now: now) {
                result.failed += 1
            } else if let wait = waitingTime(change, now) {
                result.waiting += 1
                result.nextDue = min(result.nextDue ?? now.advanced(by: wait), now.advanced(by: wait))
            } else if let item = pushItem(change) {
                due.append(Due(change: change, item: item))
            }
        }
        return due
    }

    /// How long a change is to be left alone yet; nil when it is due.
    private func waitingTime(_ change: PendingChange, _ now: FileTime) -> Duration? {
        let isFreeing = change.local == nil || change.isMoved
        var quiet = isFreeing && !isUrgent ? context.settings.deletionSettleTime : context.settings.settleTime
        if let local = change.local, local.facts.kind == .file, local.content == .changed,
            context.committer.isOpenForWriting(inode: local.fingerprint.inode), !isUrgent
        {
            quiet = context.settings.openFileQuietTime
        }
        let idle = now.since(change.since)
        // A clock that was set back must not hold anything up.
        return idle >= .zero && idle < quiet ? quiet - idle : nil
    }

    /// Nil where there is nothing to be sent: a snapshot of an open file that was sent already.
    private func pushItem(_ change: PendingChange) -> PushItem? {
        let contentChanged = change.local?.content == .changed
        if let local = change.local, change.base != nil, contentChanged, !change.isMoved, !change.attributesChanged,
            context.openUploads[local.id] == local.fingerprint,
            context.committer.isOpenForWriting(inode: local.fingerprint.inode)
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
    private func send(_ order: PushOrder, _ changes: [PendingChange], _ result: inout PushResult) async throws {
        let sender = ChangeSender(context: context, isUrgent: isUrgent)
        var broken: [RelativePath] = []
        for step in order.structure where !Self.depends(step, on: broken, changes) {
            let outcome = await sender.send(step, changes)
            if outcome != .sent { broken += Self.paths(step, changes) }
            try note(outcome, &result)
        }
        let content = order.content.filter { !Self.depends($0, on: broken, changes) }
        for group in [content] + order.deletions {
            let steps = group.filter { !Self.depends($0, on: broken, changes) }
            let outcomes = await forEach(steps, limit: context.settings.parallelTransfers) { step in
                let start = context.clock.now()
                let outcome = await sender.send(step, changes)
                if !isUrgent { await context.giveWay(after: context.clock.now().since(start)) }
                return (step, outcome)
            }
            for (step, outcome) in outcomes {
                if outcome != .sent, case .delete = step { broken += Self.paths(step, changes) }
                try note(outcome, &result)
            }
        }
    }

    private func note(_ outcome: SendOutcome, _ result: inout PushResult) throws {
        switch outcome {
        case .sent: result.sent += 1
        case .later: result.busy += 1
        case .look: result.needsLook = true
        case .parked: result.failed += 1
        case .stop(let failure): throw failure
        }
    }

    /// Where a step works: the item here, and the provider's paths.
    private static func paths(_ step: PushOrder.Step, _ changes: [PendingChange]) -> [RelativePath] {
        switch step {
        case .createDirectory(let item, let path), .send(let item, let path, _), .delete(let item, let path):
            [path, changes[item].local?.path].compactMap(\.self)
        case .move(let item, let from, let to, _): [from, to, changes[item].local?.path].compactMap(\.self)
        }
    }

    /// Whether a step lies in something of which a step before failed: its paths are not what the order assumed.
    private static func depends(_ step: PushOrder.Step, on broken: [RelativePath], _ changes: [PendingChange]) -> Bool {
        guard !broken.isEmpty else { return false }
        if case .delete(_, let path) = step, broken.contains(where: { $0.isInside(path) }) { return true }
        return paths(step, changes).contains { path in broken.contains { path.isInside($0) } }
    }
}
