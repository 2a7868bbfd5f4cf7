import Glibc
import Logging
package import QuireCore
import QuireStore

extension SyncService: ContentSource {
    /// As `materialize(path:inode:)`, of one of many that the index just told of.
    func materialize(_ item: IndexedItem) async throws(MaterializeError) {
        let inode = item.entry.fingerprint.inode
        try await downloads.wait(for: .init(inode: inode, item: item.entry.id)) {
            await self.bringContent(item.drivePath, inode: inode, known: item)
        }
    }

    package func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        // Where the index cannot be read, the download says so.
        try? await environment.index.settle()
        let item = try? await environment.index.item(drivePath: path)
        try await downloads.wait(for: .init(inode: inode, item: item?.entry.id)) {
            await self.bringContent(path, inode: inode, known: item)
        }
    }

    /// One download, with as many attempts as it takes while the item or the provider's version moves on.
    ///
    /// - Parameter known: what the index had of it a moment ago.
    private func bringContent(
        _ path: RelativePath, inode: UInt64, known: IndexedItem? = nil
    ) async -> DownloadRegistry.Outcome {
        var path = path
        var last = SyncFailure(.later, "\(path) changed too often to be downloaded")
        for attempt in 0..<6 {
            do {
                switch try await attemptDownload(path, inode: inode, known: attempt == 0 ? known : nil) {
                case .done: return .success(())
                case .moved(let newPath): path = newPath
                case .busy:
                    if engine(for: path)?.context.commits.isClosed == true { await pausing.released() }
                    try await pause(.milliseconds(20 << attempt))
                }
            } catch let failure as SyncFailure {
                last = failure
                if failure.remedy == .look, attempt == 0 {
                    // It may have been renamed at the provider: find out, then try once more.
                    do throws(SyncFailure) { try await engine(for: path)?.pullForReader(of: path) } catch {
                        last = error
                        break
                    }
                    continue
                }
                if failure.remedy == .offline { engine(for: path)?.disconnected(failure.message) }
                break
            } catch {
                last = SyncFailure(.park, "\(path): \(error)")
                break
            }
        }
        return .failure(MaterializeError(last))
    }

    private enum Attempt {
        case done
        case moved(RelativePath)
        case busy
    }

    private func pause(_ duration: Duration) async throws {
        do { try await environment.clock.sleep(duration) } catch {
            throw SyncFailure(.cancelled, "interrupted", errno: EINTR)
        }
    }

    /// What is at a path of the drive, and what is known of it.
    struct Sight {
        let engine: SyncEngine
        let status: FileStatus?
        let mark: Placeholder.Mark
        let item: IndexedItem?
    }

    /// Looks at a path; what happened before is in the index then.
    ///
    /// - Returns: nil where no engine keeps it.
    func look(at path: RelativePath) async throws(SyncFailure) -> Sight? {
        do { try await environment.index.settle() } catch {
            logger.info("the index is behind", metadata: ["error": "\(error)"])
        }
        guard let engine = engine(for: path) else { return nil }
        let tree = environment.tree
        let (status, mark) = try await engine.context.store { () throws(StoreError) in
            try Placeholder.look(at: path, in: tree)
        }
        do {
            let item = try await environment.index.item(drivePath: path)
            return Sight(engine: engine, status: status, mark: mark, item: item)
        } catch {
            throw SyncFailure(.park, "\(path): \(error)")
        }
    }

    /// Looks at the store only, where that has the placeholder that the index told of: then nothing has changed since, and
    /// whatever changes from here on is found by its version and its fingerprint.
    private func glance(at item: IndexedItem) async throws(SyncFailure) -> Sight? {
        let (path, tree) = (item.drivePath, environment.tree)
        guard let engine = engine(for: path), let version = item.base?.version else { return nil }
        let (status, mark) = try await engine.context.store { () throws(StoreError) in
            try Placeholder.look(at: path, in: tree)
        }
        guard status?.fingerprint == item.entry.fingerprint, mark.version == version else { return nil }
        return Sight(engine: engine, status: status, mark: mark, item: item)
    }

    private func attemptDownload(
        _ path: RelativePath, inode: UInt64, known: IndexedItem? = nil
    ) async throws -> Attempt {
        var found: Sight?
        if let known { found = try await glance(at: known) }
        if found == nil { found = try await look(at: path) }
        guard let sight = found else {
            throw SyncFailure(.park, "\(path) is in no container that is kept at a provider", errno: ENOENT)
        }
        let (engine, mark, item) = (sight.engine, sight.mark, sight.item)
        guard let status = sight.status, status.kind == .file, status.inode == inode || mark.isDataless else {
            if let item, item.drivePath != path { return .moved(item.drivePath) }
            // Another file took its place, as the content itself does: who waits looks at what is there now.
            if sight.status?.kind == .file { return .done }
            throw SyncFailure(.park, "\(path) is not there any more", errno: ENOENT)
        }
        guard mark.isDataless else { return .done }
        try await engine.connect()
        if let place = place(sight), let done = try await complete(place) { return done }
        return try await download(path, status, mark, item, engine.context)
    }

    /// Brings what is missing of a document that comes in parts, and has it take its placeholder's place.
    ///
    /// - Returns: nil where it has to come whole: the provider has another version, or no parts.
    private func complete(_ place: ArrivingPlace) async throws -> Attempt? {
        let (path, status, context) = (place.item.drivePath, place.status, place.engine.context)
        guard let use = try await arriving(place), var base = place.item.base else { return nil }
        // Until it is installed it is not taken for idle.
        defer { withExtendedLifetime(use) {} }
        let document = use.document
        context.announce(place.item.entry.path, .isDownloading)
        defer { context.announce(place.item.entry.path, .isDownloading, .downloadingStatus) }
        do throws(SyncFailure) {
            try await document.wait(for: 0..<document.size)
        } catch {
            guard [.look, .parkUntilChanged].contains(error.remedy) else { throw error }
            arriving.drop(place.subject.item)
            return nil
        }
        // Its time, mode or place may have been changed at the provider meanwhile.
        guard let present = try await presentBase(of: document) else { return .busy }
        base = present
        var (mtime, mode) = (status.mtime, status.mode & 0o777)
        let isListed = context.isOnlyListed(base, status)
        // Some stores tell the checksum to whoever looks at the document alone.
        if isListed || base.checksum == nil, let item = try await context.uploaded(base) {
            if isListed {
                (mtime, mode) = (item.mtime, item.mode ?? mode)
                (base.mtime, base.mode) = (mtime, item.mode)
            }
            base.checksum = base.checksum ?? item.checksum
        }
        let (known, time, bits) = (base.checksum, mtime, mode)
        let isWhole = try await context.cancellableStore { (isCancelled) throws(StoreError) in
            try document.content.finish(
                document.file, mtime: time, mode: bits, known: known, isCancelled: isCancelled)
        }
        guard isWhole else {
            arriving.drop(place.subject.item)
            throw Self.isCorrupt(path)
        }
        guard try await presentBase(of: document) == present else { return .busy }
        let documents = arriving
        let taken = try await context.store { () throws(StoreError) in try documents.take(document) }
        guard let taken else { return .busy }
        let change = LocalChange(
            path: path, .install(stagedPath: taken, dataless: false),
            expecting: .fingerprint(status.fingerprint), base: base, keepsContent: true, isSameDocument: true)
        var failure: SyncFailure?
        do throws(SyncFailure) {
            if case .done = try await context.commit(change) {
                documents.drop(place.subject.item)
                if base.checksum == nil { checksums.add() }
                return .done
            }
        } catch {
            failure = error
        }
        try await context.store { () throws(StoreError) in try documents.putBack(taken, of: document) }
        if let failure { throw failure }
        return .busy
    }

    /// What the index has of a document now; nil where that is another version.
    private func presentBase(of document: ArrivingDocument) async throws(SyncFailure) -> BaseRecord? {
        do {
            try await environment.index.settle()
            let base = try await environment.index.item(document.subject.item)?.base
            return base.flatMap { document.isOf($0.version) ? $0 : nil }
        } catch {
            throw SyncFailure(.later, "\(error)")
        }
    }

    private static func isCorrupt(_ path: RelativePath) -> SyncFailure {
        SyncFailure(
            .park,
            "what the provider has of \(path) is not what was uploaded: its SHA-256 differs; compare it with a backup")
    }

    private func download(
        _ path: RelativePath, _ status: FileStatus, _ mark: Placeholder.Mark, _ item: IndexedItem?,
        _ context: SyncContext
    ) async throws -> Attempt {
        guard let relative = path.removing(ancestor: context.container.root) else { return .done }
        let remotePath = item?.base?.path ?? relative
        if item?.base == nil, let owner = mark.container, owner != context.container.id {
            throw SyncFailure(
                .park,
                "the content of \(path) is in container \(owner), where it was moved from: move it back while the daemon "
                    + "is stopped", errno: EIO)
        }
        guard let version = item?.base?.version ?? mark.version else {
            throw SyncFailure(.look, "\(path) does not say which version it stands for", errno: EIO)
        }
        let isListed = context.isOnlyListed(item?.base, status)
        context.announce(relative, .isDownloading)
        defer { context.announce(relative, .isDownloading, .downloadingStatus) }
        let fetched = try await Downloader(context: context).fetch(
            remotePath, version: version, size: ByteCount(max(0, status.size)), owner: item?.entry.id,
            known: item?.base.flatMap(AnnouncedChange.init),
            mode: { (isListed ? $0.mode : nil) ?? status.mode & 0o777 },
            // Where only this device changed the time it stays, and goes up later.
            mtime: { $0.version == version && !isListed ? status.mtime : nil })
        var isInPlace = false
        defer { if !isInPlace { context.staging.discard(fetched.stagedPath) } }
        if fetched.item.version == version, let known = item?.base?.checksum ?? mark.checksum,
            let arrived = fetched.item.checksum, arrived != known
        {
            throw Self.isCorrupt(path)
        }
        let base = BaseRecord(container: context.container.id, fetched.item)
        let change = LocalChange(
            path: path, .install(stagedPath: fetched.stagedPath, dataless: false),
            expecting: .fingerprint(status.fingerprint), base: base, keepsContent: fetched.item.version == version,
            isSameDocument: true)
        guard case .done = try await context.commit(change) else { return .busy }
        isInPlace = true
        return .done
    }
}

extension Placeholder.Mark {
    fileprivate var checksum: ContentChecksum? {
        if case .placeholder(let placeholder) = self { placeholder.checksum } else { nil }
    }

    fileprivate var version: ProviderVersion? {
        if case .placeholder(let placeholder) = self { placeholder.version } else { nil }
    }

    fileprivate var container: ContainerID? {
        if case .placeholder(let placeholder) = self { placeholder.container } else { nil }
    }
}
