import Logging
import QuireCore
import QuireIndex
import QuireStore

/// Finds out which uploads arrived, and which moves happened, whose answer was lost, by a crash or by the network, and
/// records them.
///
/// Otherwise a document that was written again meanwhile would look changed on both sides, and this device would make a
/// conflict copy of its own edits. Runs while no push does: what is unanswered then, nobody waits for, but for what goes on
/// beside the rounds.
struct LostAnswers: Sendable {
    let context: SyncContext

    /// For how long nothing is sent or taken from a listing while the provider's answers do not tell what arrived. Afterwards
    /// one document of which it never says anything must not hold up all others.
    private static let patience: Duration = .seconds(300)

    /// - Parameter again: asks of those, too, of which nothing was found before.
    /// - Returns: how many arrived.
    /// - Throws: where something cannot be found out yet: a document that arrived would be taken for another's, or be sent under
    ///   another name as well.
    func find(again: Bool) async throws -> Int {
        var unknown: SyncFailure?
        var found = try await findMoves(&unknown)
        found += try await findUploads(again: again, &unknown)
        if let unknown { throw unknown }
        return found
    }

    /// Whether this may be another answer the next time, about something that was begun not long ago.
    private func isAwaited(_ failure: SyncFailure, since begun: FileTime) -> Bool {
        [.park, .later].contains(failure.remedy) && (.zero..<Self.patience).contains(context.clock.now().since(begun))
    }

    private func findUploads(again: Bool, _ unknown: inout SyncFailure?) async throws -> Int {
        var found = 0
        guard try await !context.index.unansweredUploads(context.container.id).isEmpty else {
            context.openQuestions.keep(only: [])
            return found
        }
        let beside = Set(context.beside.all.map(\.item))
        // Answers that came may be on their way into the index.
        try await context.index.settle()
        var uploads = try await context.index.unansweredUploads(context.container.id)
        uploads.removeAll { beside.contains($0.intent.item) }
        context.openQuestions.keep(only: uploads)
        // Each attempt is an upload of its own.
        let untold = uploads.filter { !context.openQuestions.contains($0.row) }
        let begun = Dictionary(untold.map { ($0.intent.item, $0.since) }) { min($0, $1) }
        if !again { uploads.removeAll { context.openQuestions.contains($0.row) } }
        for upload in uploads {
            do throws(SyncFailure) {
                if try await settle(upload) { found += 1 }
                context.openQuestions.answered(upload.intent)
            } catch {
                let error = await context.located(error)
                if error.remedy == .offline || error.remedy == .cancelled { throw error }
                // Asked again with the next pull.
                context.logger.info("an upload's fate is not known", metadata: ["error": "\(error.message)"])
                // The note of an upload is replaced by that of the next.
                let since = context.openQuestions.askedInVain(
                    upload.intent, begun: begun[upload.intent.item] ?? upload.since)
                if isAwaited(error, since: since) { unknown = error }
            }
        }
        if found > 0 { try await context.index.settle() }
        return found
    }

    /// A directory whose move happened and is not known is taken for one that is gone, with all in it, and for another.
    private func findMoves(_ unknown: inout SyncFailure?) async throws -> Int {
        var found = 0
        let notes = MoveNotes(context: context)
        let isNoted = try await notes.read()
        for move in context.openMoves.all {
            do throws(SyncFailure) {
                switch try await fate(of: move) {
                case .happened(let item):
                    context.logger.info("a move happened, its answer was lost", metadata: ["path": "\(move.to)"])
                    context.recordMove(of: move.base, move.from, to: item)
                    found += 1
                case .mayHappen: context.openMoves.setAside(move)
                case .didNotHappen: break
                }
            } catch {
                let error = await context.located(error)
                if error.remedy == .offline || error.remedy == .cancelled { throw error }
                context.logger.info("a move's fate is not known", metadata: ["error": "\(error.message)"])
                if isAwaited(error, since: move.since) {
                    unknown = error
                    continue
                }
            }
            context.openMoves.remove(move)
        }
        if found > 0 { try await context.index.settle() }
        if isNoted, unknown == nil {
            try await notes.clear()
            context.openMoves.forgetReopened()
        }
        return found
    }

    private enum MoveFate {
        /// What is at the new place.
        case happened(RemoteItem)
        /// All is as it was: the server may do it yet; see `OpenMoves.setAside`.
        case mayHappen
        case didNotHappen
    }

    /// A move by copy and deletion that did the first only is ended, by a device that has the content and keeps it as a version
    /// should it be nowhere then: another device may remove the new name at this moment, or be ending a move the other way.
    /// Without the content here, both names have it; but for one that was removed here since, which has none of them then.
    private func fate(of move: OpenMove) async throws(SyncFailure) -> MoveFate {
        let (provider, base) = (context.provider, move.base)
        let there = try await context.ask { () throws(ProviderError) in try await provider.item(at: move.to) }
        if let there, there.kind != base.kind || there.kind != .directory && !Self.isSame(there, base) {
            return .didNotHappen
        }
        let here = try await context.ask { () throws(ProviderError) in try await provider.item(at: move.from) }
        guard let there else {
            return here.map { $0.kind == base.kind && $0.version == base.version } == true ? .mayHappen : .didNotHappen
        }
        guard let here else { return .happened(there) }
        guard here.kind == .file, Self.isSame(here, base) else { return .didNotHappen }
        guard try await mayEnd(move) else { return .happened(there) }
        context.recentUploads.note(there.version, now: context.clock.uptime())
        try await context.ask { () throws(ProviderError) in
            try await provider.delete(move.from, expecting: here.version)
        }
        return .happened(there)
    }

    /// Whether what was moved has its content here, or was removed here since.
    private func mayEnd(_ move: OpenMove) async throws(SyncFailure) -> Bool {
        guard let id = move.item else { return false }
        let found: IndexedItem?
        do {
            try await context.index.settle()
            found = try await context.index.item(id)
        } catch { throw SyncFailure(.later, "\(error)") }
        guard let item = found else { return true }
        // Wherever it is by now.
        let path = item.drivePath
        let (status, mark) = try await context.store { () throws(StoreError) in
            try Placeholder.look(at: path, in: context.tree)
        }
        // On its way to another name, or replaced: the index is told of that next.
        guard let status, status.inode == item.entry.fingerprint.inode else {
            throw SyncFailure(.later, "\(path) is elsewhere by now")
        }
        return status.kind == .file && mark == .none
    }

    /// Whether a file is the base's, as checksums tell: some providers give what is moved another version, and versions that
    /// are made of size and time may be those of two. Where one is missing, the version counts.
    static func isSame(_ item: RemoteItem, _ base: BaseRecord) -> Bool {
        guard item.size.bytes == base.size else { return false }
        guard let there = item.checksum, let known = base.checksum else { return item.version == base.version }
        return there == known
    }

    /// - Returns: whether it arrived.
    private func settle(_ upload: UnansweredUpload) async throws(SyncFailure) -> Bool {
        let intent = upload.intent
        let found = try await context.ask { () throws(ProviderError) in
            try await context.provider.item(at: intent.path)
        }
        if let found, try await isSent(intent, found), try await isOwn(intent, found),
            try await context.otherName(of: found) == nil
        {
            context.logger.info("an upload arrived, its answer did not", metadata: ["path": "\(intent.path)"])
            acknowledge(intent, found)
            return true
        }
        let isOld = context.clock.now().since(upload.since) > OpenMoves.longestDelay
        let isUnchanged = try await hasNotChanged(intent, found)
        context.openQuestions.insert(upload.row)
        guard isOld || !isUnchanged else { return false }
        do { try await context.index.forget(upload) } catch { throw SyncFailure(.later, "\(error)") }
        return false
    }

    /// Whether the provider has what the upload started from.
    private func hasNotChanged(_ intent: UploadIntent, _ found: RemoteItem?) async throws(SyncFailure) -> Bool {
        let base: BaseRecord?
        do { base = try await context.index.item(intent.item)?.base } catch { throw SyncFailure(.later, "\(error)") }
        guard let base, base.path == intent.path else { return found == nil }
        return base.version == found?.version
    }

    /// Whether what is there, and is the same, can be what was sent. Of a document that is elsewhere here by now, or gone, the
    /// time has to be its: another device may have put the same there since, as one more "Untitled". But not where nobody has
    /// noted anything with it: that was to follow when the answer was lost.
    private func isOwn(_ intent: UploadIntent, _ found: RemoteItem) async throws(SyncFailure) -> Bool {
        let item: IndexedItem?
        let holder: LocalEntry?
        do {
            item = try await context.index.item(intent.item)
            holder = try await context.index.base(intent.container, root: context.container.root, at: intent.path)?
                .local
        } catch { throw SyncFailure(.later, "\(error)") }
        if let holder, holder.id != intent.item { return false }
        if let item, item.container == intent.container, item.drivePath == context.drivePath(intent.path) {
            return true
        }
        guard found.kind == .file, found.checksum != nil else { return true }
        let (there, sent) = (found.mtime, intent.fingerprint.mtime)
        // Some servers keep seconds.
        return there == sent || there.subsecondNanoseconds == 0 && there.seconds == sent.seconds
    }

    private func isSent(_ intent: UploadIntent, _ found: RemoteItem) async throws(SyncFailure) -> Bool {
        guard found.kind == intent.kind else { return false }
        if found.kind == .directory { return true }
        if found.kind == .symlink {
            return found.symlinkTarget.map { ContentHasher.checksum(of: $0) == intent.checksum } ?? false
        }
        guard found.size == intent.size else { return false }
        if let checksum = found.checksum { return checksum == intent.checksum }
        return try await Downloader(context: context).checksum(of: found) == intent.checksum
    }

    private func acknowledge(_ intent: UploadIntent, _ found: RemoteItem) {
        let base = context.base(of: found, checksum: intent.checksum, sent: intent.fingerprint.mtime, mode: found.mode)
        context.acknowledge(intent.item, base, fingerprint: intent.fingerprint, known: nil)
        context.takenUploads.settle(intent.item)
        context.recentUploads.note(found.version, now: context.clock.uptime())
    }
}
