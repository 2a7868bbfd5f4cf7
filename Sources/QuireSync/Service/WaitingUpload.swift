package import QuireCore
import QuireIndex

/// A change that is not at the provider yet, and what it waits for.
package struct WaitingUpload: Sendable, Hashable {
    /// What it waits for.
    package enum Reason: String, Sendable, Hashable {
        /// It was changed a moment ago.
        case settling
        /// A program has it open for writing.
        case open
        /// It failed, and is tried again later, or when it changes.
        case parked
        /// The provider has no room for it; it is tried again later.
        case full
        /// The provider does not answer.
        case offline
        /// The drive is paused.
        case paused
        /// It is on its way.
        case uploading
        /// Others are before it.
        case queued
        /// It is missing at the provider with much else, and stays here until the user says that it was deleted.
        case held
        /// It is a deletion of what was moved to another container, and is not at the provider of that yet.
        case moved
    }

    /// Below the drive's root.
    package var path: RelativePath
    package var reason: Reason
    /// In the provider's words; nil where there is nothing to add.
    package var message: String?
    /// When it is tried next; nil where no time decides.
    package var until: FileTime?
}

extension SyncService {
    /// What is not at the providers yet, the oldest changes first, at most `limit`; reads the index, asks no provider.
    package func waitingUploads(limit: Int) async throws -> [WaitingUpload] {
        var found: [WaitingUpload] = []
        for engine in engines where found.count < limit {
            found += try await waitingUploads(engine, limit: limit - found.count)
        }
        return found
    }

    /// What one document waits for; nil where that is nothing, or it goes to no provider. Reads the index, asks no provider.
    package func waiting(_ id: ItemID) async throws -> WaitingUpload? {
        let index = environment.index
        guard let item = try await index.item(id), let engine = engine(of: item.container) else { return nil }
        let (context, path) = (engine.context, item.drivePath)
        if let place = index.unreadPlaces().first(where: { $0.covers(path) }) {
            return WaitingUpload(path: path, reason: .parked, message: place.message)
        }
        if let base = item.base, engine.isHeld(base) { return WaitingUpload(path: path, reason: .held) }
        let subject = ParkedSubject.item(id)
        var messages: [ParkedSubject: String] = [:]
        for parked in try await index.parked(context.container.id) where parked.subject == subject {
            messages[subject] = parked.message
        }
        let isPending = try await !index.pending(of: [subject], in: item.container).isEmpty
        var waiting = WaitingUpload(path: path, reason: .queued)
        guard isPending else {
            guard let message = messages[subject] else { return try await stranded(id) ?? refused(path) }
            park(&waiting, subject, message, context)
            return waiting
        }
        let change = PendingChange(
            local: item.entry, base: item.base, isMoved: item.isMoved, attributesChanged: false, since: item.since)
        explain(&waiting, change, context, engine.status, messages, context.clock.now())
        return waiting
    }

    /// A placeholder that was moved to where it cannot have its content.
    private func stranded(_ id: ItemID) async throws -> WaitingUpload? {
        let found = try await environment.index.strandedPlaceholders().first { $0.id == id }
        return found.map { stranded in
            let name = engine(of: stranded.container)?.context.container.providerName
            let parked = ParkedChange(stranded, providerName: name)
            return WaitingUpload(path: parked.path, reason: .parked, message: parked.message)
        }
    }

    /// A download that there was no room for.
    private func refused(_ path: RelativePath) -> WaitingUpload? {
        space.refusal(of: path).map { WaitingUpload(path: path, reason: .parked, message: $0) }
    }

    private func waitingUploads(_ engine: SyncEngine, limit: Int) async throws -> [WaitingUpload] {
        let context = engine.context
        let now = context.clock.now()
        let ever = FileTime(nanoseconds: .max)
        let part = try await context.index.pending(
            context.container.id,
            PendingRequest(from: .start, through: ever, deletionsThrough: ever, now: now, limit: limit))
        let parked = Dictionary(
            try await context.index.parked(context.container.id).map { ($0.subject, $0.message) },
            uniquingKeysWith: { first, _ in first })
        let status = engine.status
        var found = part.changes.prefix(part.asked).compactMap { change -> WaitingUpload? in
            guard let path = change.local?.path ?? change.base.map({ context.drivePath($0.path) }) else { return nil }
            var waiting = WaitingUpload(path: path, reason: .queued)
            explain(&waiting, change, context, status, parked, now)
            return waiting
        }
        let awaiting = try await context.index.awaitingDeletions(context.container.id, limit: limit - found.count)
        found += awaiting.map { WaitingUpload(path: context.drivePath($0), reason: .moved) }
        return found
    }

    private func park(
        _ waiting: inout WaitingUpload, _ subject: ParkedSubject, _ message: String, _ context: SyncContext
    ) {
        let retry = context.retries.retry(of: subject, now: context.clock.uptime())
        (waiting.reason, waiting.message) = (retry?.isFull == true ? .full : .parked, message)
        waiting.until = retry?.pause.map { context.clock.now().advanced(by: $0) }
    }

    private func explain(
        _ waiting: inout WaitingUpload, _ change: PendingChange, _ context: SyncContext, _ status: EngineStatus,
        _ parked: [ParkedSubject: String], _ now: FileTime
    ) {
        if let end = pausing.end {
            waiting.reason = .paused
            if case .at(let time) = end { waiting.until = time }
        } else if let local = change.local, transfers[local.id]?.direction == .upload {
            waiting.reason = .uploading
        } else if let message = status.message {
            (waiting.reason, waiting.message) = (.offline, message)
        } else if let subject = change.subject, let message = parked[subject] {
            park(&waiting, subject, message, context)
        } else if let local = change.local, local.content == .changed,
            !context.providerRoom.mayTry(ByteCount(local.facts.size), now: context.clock.uptime())
        {
            waiting.reason = .full
        } else if let rest = PushRound(context: context, isUrgent: false).waitingTime(change, now) {
            let isOpen = change.local.map { context.committer.isOpenForWriting(inode: $0.fingerprint.inode) } ?? false
            waiting.reason = isOpen ? .open : .settling
            waiting.until = now.advanced(by: rest)
        }
    }
}
