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
        return part.changes.prefix(part.asked).compactMap { change in
            guard let path = change.local?.path ?? change.base.map({ context.drivePath($0.path) }) else { return nil }
            var waiting = WaitingUpload(path: path, reason: .queued)
            explain(&waiting, change, context, status, parked, now)
            return waiting
        }
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
            let retry = context.retries.retry(of: subject, now: context.clock.uptime())
            (waiting.reason, waiting.message) = (retry?.isFull == true ? .full : .parked, message)
            waiting.until = retry?.pause.map { now.advanced(by: $0) }
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
