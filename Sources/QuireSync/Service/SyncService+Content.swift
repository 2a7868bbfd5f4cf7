import Glibc
import Logging
package import QuireCore
import QuireStore

extension SyncService: ContentSource {
    package func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        try await downloads.wait(inode: inode) { await self.bringContent(path, inode: inode) }
    }

    /// One download, with as many attempts as it takes while the item or the provider's version moves on.
    private func bringContent(_ path: RelativePath, inode: UInt64) async -> DownloadRegistry.Outcome {
        var path = path
        var last = SyncFailure(.later, "\(path) changed too often to be downloaded")
        for attempt in 0..<6 {
            do {
                switch try await attemptDownload(path, inode: inode) {
                case .done: return .success(())
                case .moved(let newPath): path = newPath
                case .busy: try await pause(.milliseconds(20 << attempt))
                }
            } catch let failure as SyncFailure {
                last = failure
                if failure.remedy == .look, attempt == 0 {
                    // It may have been renamed at the provider: find out, then try once more.
                    _ = await engine(for: path)?.round(isUrgent: true, pulls: true)
                    continue
                }
                if failure.remedy == .offline { engine(for: path)?.disconnected(failure.message) }
                break
            } catch {
                last = SyncFailure(.park, "\(path): \(error)")
                break
            }
        }
        return .failure(MaterializeError(errno: last.errno, message: last.message))
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

    private func attemptDownload(_ path: RelativePath, inode: UInt64) async throws -> Attempt {
        do { try await environment.index.settle() } catch {
            logger.info("the index is behind", metadata: ["error": "\(error)"])
        }
        guard let engine = engine(for: path) else {
            throw SyncFailure(.park, "\(path) is in no container that is kept at a provider", errno: ENOENT)
        }
        let context = engine.context
        let tree = environment.tree
        let (status, mark) = try await context.store { () throws(StoreError) in
            (try tree.status(at: path), try Placeholder.mark(at: path, in: tree))
        }
        let item = try await environment.index.item(drivePath: path)
        guard let status, status.kind == .file, status.inode == inode || mark.isDataless else {
            if let item, item.drivePath != path { return .moved(item.drivePath) }
            // Another file took its place, as the content itself does: who waits looks at what is there now.
            if status?.kind == .file { return .done }
            throw SyncFailure(.park, "\(path) is not there any more", errno: ENOENT)
        }
        guard mark.isDataless else { return .done }
        try await engine.connect()
        return try await download(path, status, mark, item, context)
    }

    private func download(
        _ path: RelativePath, _ status: FileStatus, _ mark: Placeholder.Mark, _ item: IndexedItem?,
        _ context: SyncContext
    ) async throws -> Attempt {
        guard let relative = path.removing(ancestor: context.container.root) else { return .done }
        let remotePath = item?.base?.path ?? relative
        guard let version = item?.base?.version ?? mark.version else {
            throw SyncFailure(.look, "\(path) does not say which version it stands for", errno: EIO)
        }
        context.announce(relative, .isDownloading)
        defer { context.announce(relative, .isDownloading, .downloadingStatus) }
        let fetched = try await Downloader(context: context).fetch(
            remotePath, version: version, size: ByteCount(max(0, status.size)), owner: item?.entry.id,
            mode: { _ in status.mode & 0o777 })
        defer { context.staging.discard(fetched.stagedPath) }
        if fetched.item.version == version, let known = item?.base?.checksum ?? mark.checksum,
            let arrived = fetched.item.checksum, arrived != known
        {
            throw SyncFailure(
                .park,
                "\(path): what the provider sent is not what was uploaded (its SHA-256 differs); compare it with a backup"
            )
        }
        if fetched.item.version == version, fetched.item.mtime != status.mtime {
            let staging = context.staging
            try await context.store { () throws(StoreError) in
                // Only this device changed the time: it stays, and goes up later.
                try staging.finish(fetched.stagedPath, mtime: status.mtime, mode: status.mode & 0o777)
            }
        }
        let base = BaseRecord(container: context.container.id, fetched.item)
        let change = LocalChange(
            path: path, .install(stagedPath: fetched.stagedPath, dataless: false),
            expecting: .fingerprint(status.fingerprint), base: base, keepsContent: fetched.item.version == version)
        switch try await context.commit(change) {
        case .done: return .done
        case .busy, .stale: return .busy
        }
    }
}

extension Placeholder.Mark {
    fileprivate var checksum: ContentChecksum? {
        if case .placeholder(let placeholder) = self { placeholder.checksum } else { nil }
    }

    fileprivate var version: ProviderVersion? {
        if case .placeholder(let placeholder) = self { placeholder.version } else { nil }
    }
}
