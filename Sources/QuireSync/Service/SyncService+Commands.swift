package import QuireCore
import QuireStore

extension SyncService {
    /// Brings the content of a file, or of everything below a directory, here.
    ///
    /// - Parameter progress: hears how much has arrived, on any thread; at the beginning, too, where there is something to
    ///   bring.
    /// - Returns: how many files came.
    /// - Throws: why the first that failed did not come; the others came all the same.
    @discardableResult
    package func download(
        _ path: RelativePath, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws(QuireError) -> Int {
        let dataless = try await files(path) { item -> (item: ItemID, size: Int64)? in
            guard case .dataless = item.entry.content else { return nil }
            return (item.entry.id, item.entry.facts.size)
        }
        let watcher = progress.flatMap { watch(dataless, $0) }
        defer { if let watcher { transfers.unwatch(watcher) } }
        let pages = ItemPages(dataless.map(\.item), environment.index)
        let width = environment.settings.parallelTransfers
        let failures = try await withTaskExecutorPreference(pool) { () throws(QuireError) in
            try await forEach(0..<width, limit: width) { (_) throws(QuireError) in
                var failure: MaterializeError?
                while let item = try await self.reading({ try await pages.next() }) {
                    do throws(MaterializeError) { try await self.materialize(item) } catch {
                        failure = failure ?? error
                    }
                }
                return failure
            }
        }
        if let failure = failures.compactMap(\.self).first { throw QuireError(failure) }
        return dataless.count
    }

    private func watch(
        _ items: [(item: ItemID, size: Int64)], _ progress: @escaping @Sendable (DownloadProgress) -> Void
    ) -> UInt64? {
        guard !items.isEmpty else { return nil }
        let sum = DownloadSum(items, tell: progress)
        return transfers.watch { item, arrived in sum.note(item, arrived) }
    }

    /// Takes the content of a file, or of all clean files below a directory, off this device; the provider keeps it.
    ///
    /// - Returns: how many files were evicted, and which could not be.
    /// - Throws: `.notFound`; `.failed` where the index cannot be read.
    package func evictAll(_ path: RelativePath) async throws(QuireError) -> Eviction {
        var eviction = Eviction()
        for id in try await files(path, { $0.entry.id }) {
            do throws(QuireError) {
                eviction.files += try await evict(id) ? 1 : 0
            } catch {
                let item = try await reading { try await self.environment.index.item(id) }
                eviction.note(item?.drivePath ?? path, error)
            }
        }
        return eviction
    }

    /// As `quire evict`, for room: what cannot go stays, and nobody is told.
    func makeDataless(_ id: ItemID) async -> Bool {
        do { return try await evict(id) } catch { return false }
    }

    /// - Returns: false for what is not there any more, or has no content here.
    private func evict(_ id: ItemID) async throws(QuireError) -> Bool {
        // Before the base is read, which may be that of another store than the engine's afterwards.
        let engines = engines
        // As it is by now; what changes from here on is found by its fingerprint, and its base by the index.
        guard let item = try await reading({ try await self.environment.index.item(id) }) else { return false }
        let path = item.drivePath
        if case .dataless = item.entry.content {
            guard let wasHere = arriving.dropIdle(item.entry.id) else {
                throw QuireError(.busy, "\(path) is open in a program", remedy: "Close it and try again.")
            }
            return wasHere
        }
        guard item.entry.facts.kind == .file, item.entry.facts.size > 0 else { return false }
        if item.isPinned {
            throw QuireError(
                .notAllowed, "\(path) is pinned to this device", remedy: "Unpin it first: quire unpin \(path)")
        }
        guard !item.entry.isLocalOnly, let base = item.base, !item.isOwn,
            let engine = Self.engine(for: path, of: engines)
        else {
            let own = item.isMoved && item.entry.content == .asBase ? "a place" : "content"
            throw QuireError(
                .notAllowed, "\(path) has \(own) that is not at the provider yet",
                remedy: "Upload it first: quire sync")
        }
        if try await hasOtherName(item, engine.context) {
            throw QuireError(
                .notAllowed, "\(path) has another name (a hard link), under which its content would stay here",
                remedy: "Remove the other name first: find -samefile \(path)")
        }
        if try await reading({ try await engine.isMissing(base) }) {
            throw QuireError(
                .notAllowed,
                "\(path) is missing at \(engine.context.container.providerName), as far as is known: its content is here only",
                remedy: "See quire status; where it was deleted, quire sync --confirm-deletes removes it here, too")
        }
        try await requireArrived(base, path, engine)
        switch try await installPlaceholder(item, base, engine.context) {
        case .done:
            engine.context.announce(item.entry.path, .downloadingStatus)
            return true
        case .busy: throw QuireError(.busy, "\(path) is open in a program", remedy: "Close it and try again.")
        case .stale: throw QuireError(.busy, "\(path) has just changed", remedy: "Upload it first: quire sync")
        }
    }

    /// What was sent a short while ago may be lost at the provider though that acknowledged it (`RecentUploads`): one look finds out
    /// before the only content goes.
    ///
    /// - Throws: `.busy` where it is not there as it was sent, or nobody can look.
    private func requireArrived(
        _ base: BaseRecord, _ path: RelativePath, _ engine: SyncEngine
    ) async throws(QuireError) {
        let (context, status) = (engine.context, engine.status)
        guard context.recentUploads.contains(base.version, now: context.clock.uptime()) else { return }
        let provider = context.container.providerName
        let isThere: Bool
        do throws(SyncFailure) {
            // Who evicts many does not wait for each.
            if let message = status.message { throw SyncFailure(.offline, message) }
            isThere = try await context.uploaded(base)?.size.bytes == base.size
        } catch {
            if error.remedy == .offline, status.message == nil { engine.disconnected(error.message) }
            throw QuireError(
                .busy,
                "\(path) was uploaded a short while ago, and whether \(provider) has it cannot be seen: \(error.message)",
                remedy: "Try again when that can be reached.")
        }
        guard isThere else {
            throw QuireError(
                .busy, "\(path) is not at \(provider) as it was uploaded a short while ago",
                remedy: "Find out what became of it first: quire sync")
        }
    }

    private func hasOtherName(_ item: IndexedItem, _ context: SyncContext) async throws(QuireError) -> Bool {
        let tree = environment.tree
        do throws(SyncFailure) {
            let status = try await context.store { () throws(StoreError) in try tree.status(at: item.drivePath) }
            return status.map { $0.linkCount > 1 } ?? false
        } catch {
            throw QuireError(.failed, error.message)
        }
    }

    private func installPlaceholder(
        _ item: IndexedItem, _ base: BaseRecord, _ context: SyncContext
    ) async throws(QuireError) -> LocalChangeResult {
        let mark = Placeholder(version: base.version, container: base.container, checksum: base.checksum)
        let facts = item.entry.facts
        do throws(SyncFailure) {
            let staging = context.staging
            let staged = try await context.store { () throws(StoreError) in
                try Placeholder.create(
                    mark, size: ByteCount(facts.size), mtime: facts.mtime, mode: facts.mode ?? 0o644, in: staging)
            }
            defer { staging.discard(staged) }
            return try await context.commit(
                LocalChange(
                    path: item.drivePath, .install(stagedPath: staged, dataless: true),
                    expecting: .fingerprint(item.entry.fingerprint), base: base, refuseIfOpen: true,
                    keepsContent: true, isSameDocument: true))
        } catch {
            throw QuireError(.failed, error.message)
        }
    }

    /// Keeps a file, or all that is or comes below a directory, on this device, and brings the content here.
    package func pin(_ path: RelativePath) async throws(QuireError) {
        try await setPinned(path, true)
        try await download(path)
    }

    /// Lets content be taken off this device again.
    package func unpin(_ path: RelativePath) async throws(QuireError) { try await setPinned(path, false) }

    private func setPinned(_ path: RelativePath, _ isPinned: Bool) async throws(QuireError) {
        try await reading { try await self.environment.index.settle() }
        let item = try await reading { try await self.environment.index.item(drivePath: path) }
        guard let item else { throw QuireError(.notFound, "nothing is at \(path) on the drive") }
        try await reading { try await self.environment.index.setPinned(item.entry.id, isPinned) }
    }

    private func files<Entry: Sendable>(
        _ path: RelativePath, _ make: @escaping @Sendable (IndexedItem) -> Entry?
    ) async throws(QuireError) -> [Entry] {
        try await reading { try await self.environment.index.settle() }
        let found = try await reading { try await self.environment.index.files(below: path, make) }
        if found.isEmpty, !path.isRoot {
            let item = try await reading { try await self.environment.index.item(drivePath: path) }
            if item == nil { throw QuireError(.notFound, "nothing is at \(path) on the drive") }
        }
        return found
    }

    func reading<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws(QuireError) -> Value {
        do {
            return try await body()
        } catch {
            throw QuireError(.failed, "the index cannot be read or written: \(error)", remedy: "See quire check.")
        }
    }
}

// MARK: - conflicts

/// Which side of a conflict stays.
package enum ConflictChoice: Sendable, Hashable {
    /// The conflict copy's content becomes the document's.
    case copy
    /// The document stays as it is.
    case original
}

extension SyncService {
    /// Ends a conflict: one version stays under the document's name, the other goes to the kept versions.
    ///
    /// - Parameter path: of the conflict copy, below the drive's root.
    /// - Throws: `.usage` where `path` is no conflict copy's name, or one that does not say which document its content would
    ///   become; `.notFound`; `.busy`.
    package func resolveConflict(_ path: RelativePath, keep choice: ConflictChoice) async throws(QuireError) {
        guard let name = path.name, let conflict = ConflictName(name), let directory = path.parent else {
            throw QuireError(.usage, "\(path) is not the name of a conflict copy", remedy: "See quire conflicts.")
        }
        try await reading { try await self.environment.index.settle() }
        guard let copy = try await reading({ try await self.environment.index.item(drivePath: path) }) else {
            throw QuireError(.notFound, "nothing is at \(path) on the drive")
        }
        guard let engine = engine(for: path) else { throw QuireError(.unavailable, "\(path) is in no container") }
        let original = directory.appending(conflict.original)
        // What goes to the kept versions must be here, too.
        if case .dataless = copy.entry.content { try await download(path) }
        let document = choice == .copy ? try await whole(original) : nil
        guard choice == .original || document != nil || !conflict.mayBeCut else {
            throw QuireError(
                .usage, "\(path): the document's name was cut to make this one, and does not say which document it is",
                remedy: "Move the copy over the document yourself, as with mv")
        }
        // Wherever the document goes then, the version that goes is one of it.
        let owner =
            choice == .original
            ? try await reading { try await self.environment.index.item(drivePath: original) }?.entry.id : nil
        do throws(SyncFailure) {
            switch choice {
            case .copy: try await replace(original, document, byCopyAt: path, engine.context)
            case .original: try await displace(path, by: .remove, owner ?? copy.entry.id, engine.context)
            }
        } catch {
            throw QuireError(error.remedy == .later ? .busy : .failed, error.message)
        }
        engine.wake()
    }

    /// What is at a path, its content brought here; nil where nothing is.
    private func whole(_ path: RelativePath) async throws(QuireError) -> IndexedItem? {
        let item = try await reading { try await self.environment.index.item(drivePath: path) }
        guard case .dataless = item?.entry.content else { return item }
        try await download(path)
        try await reading { try await self.environment.index.settle() }
        return try await reading { try await self.environment.index.item(drivePath: path) }
    }

    /// Puts the copy's content in the document's place, as an edit; what was there is kept as a version. The copy goes,
    /// unless something was saved into it meanwhile.
    private func replace(
        _ original: RelativePath, _ document: IndexedItem?, byCopyAt path: RelativePath, _ context: SyncContext
    ) async throws(SyncFailure) {
        let (tree, staging, now) = (environment.tree, environment.staging, environment.clock.now)
        let snapshot = try await context.store { () throws(StoreError) in
            try Snapshot.take(tree, path, staging: staging, now: now)
        }
        guard case .file(let staged) = snapshot.content else {
            throw SyncFailure(.park, "\(path) is not a file")
        }
        defer { staging.discard(staged) }
        // It could not be removed, and the document would be replaced anew by each attempt.
        let isInUse = environment.committer.isOpenForWriting(inode: snapshot.fingerprint.inode)
        guard !isInUse else { throw Self.isBusy(path) }
        try await context.store { () throws(StoreError) in
            try staging.finish(staged, mtime: now(), mode: snapshot.status.mode)
        }
        let install = LocalChange.Operation.install(stagedPath: staged, dataless: false)
        if let document {
            let status = try await displace(original, by: install, document.entry.id, context)
            // An edit, not the provider's state: what was acknowledged of the document is not what is there now.
            if let status, let base = document.base {
                environment.index.record(
                    .acknowledged(
                        StoreEvent.Acknowledgement(
                            item: document.entry.id, base: base, fingerprint: status.fingerprint, writersOpen: true)))
            }
        } else {
            try await make(LocalChange(path: original, install, expecting: .absent, base: nil), context)
        }
        try await make(
            LocalChange(path: path, .remove, expecting: .fingerprint(snapshot.fingerprint), base: nil), context)
    }

    /// Makes a change that takes away what is at a path, which is kept as a version.
    @discardableResult
    private func displace(
        _ path: RelativePath, by operation: LocalChange.Operation, _ item: ItemID, _ context: SyncContext
    ) async throws(SyncFailure) -> FileStatus? {
        let environment = environment
        let result = try await context.store { () throws(StoreError) in
            try environment.versions.displace(
                path, by: operation, item: item, in: environment.tree, environment.committer,
                now: environment.clock.now)
        }
        return try Self.status(result, path)
    }

    private func make(_ change: LocalChange, _ context: SyncContext) async throws(SyncFailure) {
        _ = try Self.status(try await context.commit(change), change.path)
    }

    private static func isBusy(_ path: RelativePath) -> SyncFailure {
        SyncFailure(.later, "\(path) is in use or has just changed; try again")
    }

    private static func status(
        _ result: LocalChangeResult, _ path: RelativePath
    ) throws(SyncFailure) -> FileStatus? {
        guard case .done(let status) = result else { throw isBusy(path) }
        return status
    }
}
