import Glibc
import Logging
import QuireCore
import QuireIndex
import QuireStore

/// What became of a step towards the provider.
enum SendOutcome: Sendable, Hashable {
    case sent
    /// The item changed or is in use: next round.
    case later
    /// The provider has something else than expected.
    case look
    /// Failed; noted with its message, tried again later.
    case parked
    /// The provider had no room for as much a moment ago: tried again later.
    case noRoom
    /// Left to the next round, as somebody else is to have a turn.
    case left
    /// Goes on by itself: see `UploadsBeside`.
    case beside
    /// An upload that goes on so is in the way: tried again once that has ended.
    case waits
    /// The round cannot go on: the provider is gone, or the task is cancelled.
    case stop(SyncFailure)
}

/// Carries out single steps towards the provider, each conditional on the version the change started from.
///
/// An answer that was lost is not repeated blindly: the next attempt's condition fails then, and the following pull finds
/// out what arrived (`LostAnswers`).
struct ChangeSender: Sendable {
    let context: SyncContext
    let isUrgent: Bool

    func send(_ step: PushOrder.Step, _ changes: [PendingChange]) async -> SendOutcome {
        guard fits(step, changes) else { return .noRoom }
        await context.announcements.note(touched(step, changes), context)
        let outcome = await perform(step, changes)
        context.logger.debug("push", metadata: ["step": "\(step)", "outcome": "\(outcome)"])
        return outcome
    }

    /// Whether the provider may have room for it.
    private func fits(_ step: PushOrder.Step, _ changes: [PendingChange]) -> Bool {
        guard case .send(let item, _, _) = step, let local = changes[item].local, local.content == .changed else {
            return true
        }
        return context.providerRoom.mayTry(ByteCount(local.facts.size), now: context.clock.uptime())
    }

    /// The provider's paths at which a step changes something; nil where it takes a directory's content along.
    private func touched(_ step: PushOrder.Step, _ changes: [PendingChange]) -> [RelativePath]? {
        switch step {
        case .createDirectory(_, let path), .delete(_, let path): [path]
        case .send(let item, let path, _): [path, changes[item].base?.path].compactMap(\.self)
        case .move(let item, let from, let to, _):
            changes[item].base?.kind == .directory && context.provider.capabilities.directoryMoves ? nil : [from, to]
        }
    }

    private func perform(_ step: PushOrder.Step, _ changes: [PendingChange]) async -> SendOutcome {
        switch step {
        case .createDirectory(let item, let path):
            let change = changes[item]
            return await settled(change) { () throws(SyncFailure) in
                try await making(path) { () throws(SyncFailure) in try await createDirectory(change, at: path) }
            }
        case .move(let item, let from, let to, _):
            let change = changes[item]
            if change.base?.kind == .directory, !context.provider.capabilities.directoryMoves {
                return await remade(change, at: to)
            }
            return await settled(change) { () throws(SyncFailure) in
                try await checkName(to, of: from)
                try await move(change, from, to)
            }
        case .send(let item, let path, let over):
            let change = changes[item]
            let replaced = over.flatMap { changes[$0].base }
            return await settled(change) { () throws(SyncFailure) in
                guard change.base == nil, replaced == nil else {
                    return try await sendContent(change, at: path, over: replaced)
                }
                try await making(path) { () throws(SyncFailure) in
                    try await sendContent(change, at: path, over: nil)
                }
            }
        case .delete(let item, let path):
            let change = changes[item]
            return await settled(change) { () throws(SyncFailure) in try await delete(change, at: path) }
        }
    }

    /// Runs one step, and notes how it ended.
    private func settled(_ change: PendingChange, _ body: () async throws(SyncFailure) -> Void) async -> SendOutcome {
        guard let subject = change.subject else { return .later }
        do {
            try await body()
            await context.unpark(subject)
            return .sent
        } catch {
            return await failed(change, subject, error)
        }
    }

    private func failed(_ change: PendingChange, _ subject: ParkedSubject, _ failure: SyncFailure) async -> SendOutcome
    {
        switch failure.remedy {
        case .offline, .cancelled: return .stop(failure)
        case .later, .look:
            // Nothing to tell, unless it goes on for long.
            let isTold = context.retries.puzzled(subject)
            if isTold { await context.park(subject, failure) }
            return failure.remedy == .look ? .look : isTold ? .parked : .later
        case .park, .parkUntilChanged:
            await context.park(subject, failure, unchanged: change.local, isSent: true)
            return .parked
        }
    }
}

// MARK: - structure

extension ChangeSender {
    /// For a provider that cannot move directories: makes the directory anew at its new place. What lies in it is then
    /// moved there piece by piece, and the old directory is deleted, in rounds to come: so nothing that is planned in
    /// this one counts any more.
    private func remade(_ change: PendingChange, at path: RelativePath) async -> SendOutcome {
        let outcome = await settled(change) { () throws(SyncFailure) in
            do throws(SyncFailure) {
                try await checkName(path)
                try await createDirectory(change, at: path)
            } catch {
                // One is there, from an attempt whose answer was lost, or of another device: they become one.
                guard error.remedy == .look, let local = change.local,
                    let item = try await context.ask({ () throws(ProviderError) in
                        try await context.provider.item(at: path)
                    }), item.kind == .directory
                else { throw error }
                acknowledge(local, item, fingerprint: local.fingerprint, sent: Self.attributes(local.facts))
            }
        }
        return outcome == .sent ? .later : outcome
    }

    private func createDirectory(_ change: PendingChange, at path: RelativePath) async throws(SyncFailure) {
        guard let local = change.local else { return }
        let attributes = Self.attributes(local.facts)
        try await note(local, .zero, ContentHasher.checksum(of: []), local.fingerprint, at: path)
        let item = try await context.ask { () throws(ProviderError) in
            try await context.provider.createDirectory(path, attributes: attributes)
        }
        acknowledge(local, item, fingerprint: local.fingerprint, sent: attributes)
    }

    private func move(_ change: PendingChange, _ from: RelativePath, _ to: RelativePath) async throws(SyncFailure) {
        guard let base = change.base else { return }
        guard isOnePlace(from, to), let between = from.parent?.appending(TransitName.make()) else {
            try await move(base, from, to, of: change.local?.id)
            return
        }
        // Both names are one place there, which is taken: by way of another. A push goes on from that, should this one end.
        let moved = try await move(base, from, between, of: change.local?.id)
        try await move(moved, between, to, of: change.local?.id)
    }

    @discardableResult
    private func move(
        _ base: BaseRecord, _ from: RelativePath, _ to: RelativePath, of item: ItemID?
    ) async throws(SyncFailure) -> BaseRecord {
        let notes = MoveNotes(context: context)
        let noted = notes.isNeeded(base, to: to) ? item : nil
        if let noted { try await notes.insert(noted, from: from, to: to) }
        do throws(SyncFailure) {
            let moved = try await context.keepingArrived(item, base, isSure: false) { () throws(SyncFailure) in
                try await context.ask { () throws(ProviderError) in
                    try await context.provider.move(from, to: to, expecting: base.knownVersion)
                }
            } record: { moved in
                context.recordMove(of: base, from, to: moved)
            }
            context.openMoves.settle(from)
            return moved
        } catch {
            let now = context.clock.now()
            // It may have happened all the same, or the copy of it; where it was refused, the one before may have.
            if [.offline, .cancelled, .park].contains(error.remedy), error.isPassing || noted != nil {
                context.openMoves.insert(OpenMove(item: item, from: from, to: to, base: base, since: now))
            } else if error.remedy == .look, context.openMoves.reopenAside(from: from, to: to, now: now) {
                // Found out by the pull that follows.
            } else if let noted {
                await notes.remove(noted, to: to)
            }
            throw error
        }
    }

    private func delete(_ change: PendingChange, at path: RelativePath) async throws(SyncFailure) {
        guard let base = change.base else { return }
        do {
            try await context.provider.delete(path, expecting: base.knownVersion)
            context.openMoves.settle(path)
        } catch {
            if error.code == .notFound, let place = context.unseen.place(of: path) {
                throw SyncFailure(
                    .park, "\(path) cannot be deleted at the provider: \(place) cannot be seen there")
            }
            // Perhaps it has gone on with a directory.
            if error.code == .notFound, context.openMoves.all.contains(where: { path.isInside($0.from) }) {
                throw SyncFailure(.look, "\(path) may be elsewhere at the provider: the answer to a move is missing")
            }
            // Gone already: that is what was wanted.
            guard error.code == .notFound else { throw SyncFailure(context.container.remedied(error)) }
        }
        context.index.record(.baseRemoved(container: context.container.id, path: path))
    }
}

// MARK: - content

extension ChangeSender {
    /// - Parameter over: the base of a deleted item in whose place this one is put.
    private func sendContent(_ change: PendingChange, at path: RelativePath, over: BaseRecord?)
        async throws(SyncFailure)
    {
        guard let local = change.local else { return }
        var change = change
        change.base = try await present(change.base, of: local.id, at: path)
        if case .dataless = local.content, change.base == nil {
            throw .contentIsNowhere(local.path, context.container)
        }
        // A symlink's time can only be sent with the link.
        let isTimedLink = local.facts.kind == .symlink && context.provider.capabilities.attributes
        if local.content != .changed && !isTimedLink || local.facts.kind == .directory {
            return try await sendAttributes(change, local, at: path)
        }
        let known = change.base ?? over
        let expecting = known.map { Precondition.version($0.version) } ?? .absent
        let isLost = try await mayHaveLostMark(change, local)
        if isLost, change.base?.checksum == nil { throw Self.lostMark(local) }
        if let file = try await live(change, local) {
            return try await upload(local, file, at: path, expecting: expecting)
        }
        let snapshot = try await snapshot(local)
        defer { if case .file(let copy) = snapshot.content { context.staging.discard(copy) } }
        if let base = change.base, base.kind == local.facts.kind, base.checksum == snapshot.checksum,
            !isTimedLink || base.mtime == snapshot.status.mtime
        {
            return try await sendUnchanged(base, local, snapshot, at: path)
        }
        guard !isLost else { throw Self.lostMark(local) }
        try await upload(local, snapshot, at: path, expecting: expecting)
    }

    /// An item's base where a step before this one has moved it: its version there may be another. What is recorded without a
    /// request has to be so.
    private func present(
        _ base: BaseRecord?, of item: ItemID, at path: RelativePath
    ) async throws(SyncFailure) -> BaseRecord? {
        guard let base, base.path != path else { return base }
        let found: BaseRecord?
        do {
            try await context.index.settle()
            found = try await context.index.item(item)?.base
        } catch { throw SyncFailure(.later, "\(error)") }
        guard let found, found.path == path else { throw SyncFailure(.later, "\(path) is not there yet") }
        return found
    }

    /// Content was written and is as before: only the attributes are sent.
    private func sendUnchanged(
        _ base: BaseRecord, _ local: LocalEntry, _ snapshot: Snapshot, at path: RelativePath
    ) async throws(SyncFailure) {
        var facts = local.facts
        (facts.mtime, facts.mode) = (snapshot.status.mtime, snapshot.status.mode)
        guard SyncPlanner.attributesDiffer(facts, ItemFacts(base)), local.facts.kind == .file,
            context.provider.capabilities.attributes
        else {
            var same = base
            same.path = path
            if !context.provider.capabilities.attributes { (same.mtime, same.mode) = (facts.mtime, facts.mode) }
            context.acknowledge(local.id, same, fingerprint: snapshot.fingerprint, known: local.fingerprint)
            return noteOpen(local, snapshot.fingerprint)
        }
        let attributes = Self.attributes(facts)
        let item = try await context.ask { () throws(ProviderError) in
            try await context.provider.setAttributes(path, attributes, expecting: base.version)
        }
        acknowledge(
            local, item, checksum: snapshot.checksum, fingerprint: snapshot.fingerprint, sent: attributes, after: base)
        noteOpen(local, snapshot.fingerprint)
    }

    /// What is open for writing stays changed, though it is at the provider as it was: it is not sent again as it is.
    func noteOpen(_ local: LocalEntry, _ sent: Fingerprint) {
        context.openFiles.noteArrived(local.id)
        guard context.committer.isOpenForWriting(inode: local.fingerprint.inode) else { return }
        context.openFiles.noteSent(local.id, sent)
    }

    private func sendAttributes(_ change: PendingChange, _ local: LocalEntry, at path: RelativePath)
        async throws(SyncFailure)
    {
        guard let base = change.base else { return }
        let attributes = Self.attributes(local.facts)
        if local.facts.kind == .directory, local.content == .changed {
            try await confirm(base, at: path)
            if !change.attributesChanged {
                var same = base
                same.path = path
                return context.acknowledge(local.id, same, fingerprint: local.fingerprint, known: local.fingerprint)
            }
        }
        guard context.provider.capabilities.attributes, local.facts.kind != .symlink else {
            // Nobody keeps them but this device.
            var same = base
            same.path = path
            (same.mtime, same.mode) = (local.facts.mtime, local.facts.mode)
            if same.tags != nil { same.tags = local.facts.tags }
            context.acknowledge(local.id, same, fingerprint: local.fingerprint, known: local.fingerprint)
            return
        }
        try await context.keepingArrived(local.id, base, isSure: true) { () throws(SyncFailure) in
            try await context.ask { () throws(ProviderError) in
                try await context.provider.setAttributes(path, attributes, expecting: base.version)
            }
        } record: { item in
            acknowledge(
                local, item, checksum: base.checksum, fingerprint: local.fingerprint, sent: attributes, after: base)
        }
    }

    /// A directory that was removed and made anew here is the provider's only as long as that has not lost it meanwhile: by
    /// our own deletion whose answer did not come, or by another device's.
    private func confirm(_ base: BaseRecord, at path: RelativePath) async throws(SyncFailure) {
        let item = try await context.ask { () throws(ProviderError) in try await context.provider.item(at: path) }
        guard let item, item.kind == .directory, item.version == base.version else {
            throw SyncFailure(.look, "\(path) is another directory at the provider than before, or gone")
        }
    }

    private func upload(
        _ local: LocalEntry, _ snapshot: Snapshot, at path: RelativePath, expecting: Precondition
    ) async throws(SyncFailure) {
        let attributes = Self.attributes(local, snapshot.status)
        try await note(local, snapshot.size, snapshot.checksum, snapshot.fingerprint, at: path)
        let item = try await uploading(local, snapshot.size) { () throws(ProviderError) in
            try await put(snapshot, at: path, attributes, expecting: expecting)
        }
        context.restless.remove(local.id)
        try await arrived(
            local, item,
            as: SentContent(
                size: snapshot.size, checksum: snapshot.checksum, fingerprint: snapshot.fingerprint,
                attributes: attributes))
    }

    private func put(
        _ snapshot: Snapshot, at path: RelativePath, _ attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        switch snapshot.content {
        case .file(let copy):
            let content = UploadContent(snapshotPath: copy, size: snapshot.size, checksum: snapshot.checksum)
            return try await context.provider.put(
                path, content: content, attributes: attributes, expecting: expecting)
        case .bytes(let bytes):
            guard let provider = context.directProvider else {
                throw ProviderError(.unsupported, "\(path): the provider takes nothing but snapshots")
            }
            return try await provider.put(
                path, direct: .bytes(bytes, snapshot.checksum), attributes: attributes, expecting: expecting)
        case .symlink(let target):
            return try await context.provider.putSymlink(
                path, target: target, mtime: attributes.mtime, expecting: expecting)
        }
    }

    /// Runs an upload, shown as one, and notes whether there was room for it.
    func uploading(
        _ local: LocalEntry, _ size: ByteCount, _ body: () async throws(ProviderError) -> RemoteItem
    ) async throws(SyncFailure) -> RemoteItem {
        context.transfers.begin(local.id, .upload, total: size)
        context.announce(local.path, .isUploading)
        var arrived = false
        defer {
            context.transfers.end(local.id, arrived: arrived)
            context.announce(local.path, .isUploading, .isUploaded)
        }
        do {
            let item = try await body()
            context.providerRoom.fitted(size)
            context.takenUploads.settle(local.id)
            arrived = true
            return item
        } catch {
            if error.isTaken { context.takenUploads.note(local.id) }
            if error.code == .noSpace {
                context.providerRoom.refused(size, clock: context.clock, limit: context.settings.longestBackoff)
            }
            throw SyncFailure(context.container.remedied(error))
        }
    }

    /// Makes durable what is about to be sent: see `LostAnswers`.
    func note(
        _ local: LocalEntry, _ size: ByteCount, _ checksum: ContentChecksum, _ fingerprint: Fingerprint,
        at path: RelativePath
    ) async throws(SyncFailure) {
        context.index.record(
            .uploading(
                UploadIntent(
                    item: local.id, container: context.container.id, path: path, kind: local.facts.kind,
                    size: size, checksum: checksum, fingerprint: fingerprint)))
        do { try await context.index.settle() } catch { throw SyncFailure(.later, "\(error)") }
    }

    /// A copy of the content, taken under a read claim where applications coordinate.
    private func snapshot(_ local: LocalEntry) async throws(SyncFailure) -> Snapshot {
        let path = context.drivePath(local.path)
        let (tree, staging) = (context.tree, context.staging)
        // Just before the state that is read is looked at: a write that goes on then has an open file.
        let now: @Sendable () -> FileTime = {
            context.openFiles.noteReading(
                local.id, whileWritten: context.committer.isOpenForWriting(inode: local.fingerprint.inode))
            return context.clock.now()
        }
        let limit: ByteCount? =
            context.directProvider != nil && local.facts.size <= DirectContent.mostBytes.bytes
            ? DirectContent.mostBytes : nil
        let snapshot = try await context.whileReading(path) { () async throws(SyncFailure) in
            try await context.cancellableStore { (isCancelled) throws(StoreError) in
                if let limit, let small = try Snapshot.takeSmall(tree, path, limit: limit, now: now) { return small }
                return try Snapshot.take(tree, path, staging: staging, isCancelled: isCancelled, now: now)
            }
        }
        guard snapshot.fingerprint.inode == local.fingerprint.inode else {
            if case .file(let copy) = snapshot.content { staging.discard(copy) }
            throw SyncFailure(.later, "another item is at \(local.path) now")
        }
        return snapshot
    }

    private static func attributes(_ facts: ItemFacts) -> RemoteAttributes {
        RemoteAttributes(mtime: facts.mtime, mode: (facts.mode ?? 0o644) & 0o777, tags: facts.tags)
    }

    /// With the time and the mode that the file had when it was read.
    static func attributes(_ local: LocalEntry, _ status: FileStatus) -> RemoteAttributes {
        var facts = local.facts
        (facts.mtime, facts.mode) = (status.mtime, status.mode)
        return attributes(facts)
    }

    func acknowledge(
        _ local: LocalEntry, _ item: RemoteItem, checksum: ContentChecksum? = nil, fingerprint: Fingerprint,
        sent: RemoteAttributes, after former: BaseRecord? = nil
    ) {
        var base = context.base(of: item, checksum: checksum, sent: sent.mtime, mode: sent.mode)
        if let former { base = base.following(former) }
        context.acknowledge(local.id, base, fingerprint: fingerprint, known: local.fingerprint)
    }
}

extension BaseRecord {
    /// What the provider's item must be for it to be moved or deleted; nil where only its path is known.
    ///
    /// A directory is named by its version as well: another device may have put another one in its place.
    var knownVersion: ProviderVersion? { version.rawValue.isEmpty ? nil : version }
}
