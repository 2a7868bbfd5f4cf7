import Glibc
import QuireCore
import QuireStore
import Synchronization

/// Content that was fetched and lies in the staging directory, complete and fsynced.
struct FetchedContent: Sendable {
    var stagedPath: String
    /// As the provider had it when it was fetched; its checksum is that of the staged bytes.
    var item: RemoteItem
}

/// Fetches content whole or not at all.
struct Downloader: Sendable {
    let context: SyncContext

    /// Fetches the document at `path`, newer than `version` if the provider has moved on, into the staging directory.
    ///
    /// Given up with ETIMEDOUT when nothing arrives for `downloadDeadline`, and with ENOSPC where there is no room for it.
    /// - Parameters:
    ///   - owner: shown as being downloaded meanwhile.
    ///   - known: what is known of the attributes that were uploaded with a version.
    ///   - mode: for the staged file.
    ///   - mtime: for the staged file; nil for the provider's.
    func fetch(
        _ path: RelativePath, version: ProviderVersion, size: ByteCount, owner: ItemID?,
        known: AnnouncedChange? = nil, mode: (RemoteItem) -> UInt16, mtime: (RemoteItem) -> FileTime? = { _ in nil }
    ) async throws(SyncFailure) -> FetchedContent {
        let reservation = try await context.space.reserve(size, for: context.drivePath(path))
        defer { reservation.release() }
        if let owner { context.transfers.begin(owner, .download, total: size) }
        var arrived = false
        defer { if let owner { context.transfers.end(owner, arrived: arrived) } }
        var version = version
        for _ in 0..<4 {
            let destination = context.staging.uniquePath("download")
            do {
                var item = try await transfer(path, version, to: destination, owner)
                if let known, !context.provider.capabilities.attributes { item = known.completing(item) }
                try await finish(destination, mtime(item) ?? item.mtime, mode(item))
                if item.version != version { context.touched.insert(path) }
                arrived = true
                return FetchedContent(stagedPath: destination, item: item)
            } catch {
                context.staging.discard(destination)
                guard error.remedy == .look, error.errno != ENOENT else { throw error }
                version = try await newerVersion(path, than: version)
                context.touched.insert(path)
            }
        }
        throw SyncFailure(.later, "\(path) changes at the provider faster than it can be fetched")
    }

    /// The checksum of content that the provider gives none of.
    ///
    /// - Throws: `.later` where it is another version by now.
    func checksum(of item: RemoteItem) async throws(SyncFailure) -> ContentChecksum? {
        let fetched = try await fetch(
            item.path, version: item.version, size: item.size, owner: nil, mode: { _ in 0o600 })
        context.staging.discard(fetched.stagedPath)
        guard fetched.item.version == item.version else {
            throw SyncFailure(.later, "\(item.path) changed meanwhile")
        }
        return fetched.item.checksum
    }

    /// Fetches a version that the provider keeps besides the present one.
    func fetchEarlier(_ item: RemoteItem) async throws(SyncFailure) -> FetchedContent {
        let reservation = try await context.space.reserve(item.size, for: context.drivePath(item.path))
        defer { reservation.release() }
        let destination = context.staging.uniquePath("download")
        do throws(SyncFailure) {
            let fetched = try await transfer(item.path, item.version, to: destination, nil)
            guard fetched.size == item.size else {
                throw SyncFailure(
                    .park,
                    "of an earlier version of \(item.path) \(fetched.size.bytes) bytes arrived, and the provider tells "
                        + "that it has \(item.size.bytes)")
            }
            try await finish(destination, fetched.mtime, 0o600)
            return FetchedContent(stagedPath: destination, item: fetched)
        } catch {
            context.staging.discard(destination)
            throw error
        }
    }

    /// Fetches a part of the document into a file that is there.
    ///
    /// - Parameter progress: called with how much of the part is there for certain, on any thread.
    func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(SyncFailure) {
        _ = try await watched(path) { (note) async throws(ProviderError) in
            try await context.provider.fetch(path, version: version, range: range, into: destination) { arrived in
                note()
                progress(arrived)
            }
        }
    }

    private func newerVersion(_ path: RelativePath, than version: ProviderVersion) async throws(SyncFailure)
        -> ProviderVersion
    {
        let item = try await context.ask { () throws(ProviderError) in try await context.provider.item(at: path) }
        guard let item, item.kind == .file else {
            throw SyncFailure(.look, "\(path) is not at the provider any more", errno: ENOENT)
        }
        return item.version
    }

    private func finish(_ staged: String, _ mtime: FileTime, _ mode: UInt16) async throws(SyncFailure) {
        try await context.store { () throws(StoreError) in
            try context.staging.finish(staged, mtime: mtime, mode: mode)
        }
    }

    private func transfer(
        _ path: RelativePath, _ version: ProviderVersion, to destination: String, _ owner: ItemID?
    ) async throws(SyncFailure) -> RemoteItem {
        try await watched(path) { (note) async throws(ProviderError) in
            try await context.provider.fetch(path, version: version, to: destination) { arrived in
                note()
                if let owner { context.transfers.progress(owner, arrived) }
            }
        }
    }

    /// A transfer, watched: the provider's call is cancelled when nothing arrives for too long.
    ///
    /// - Parameter body: calls what it is given whenever something arrives.
    private func watched(
        _ path: RelativePath,
        _ body: @escaping @Sendable (_ note: @escaping @Sendable () -> Void) async throws(ProviderError) -> RemoteItem
    ) async throws(SyncFailure) -> RemoteItem {
        let (outcome, isStalled) = await context.stalls.watch(
            context.settings.downloadDeadline, context.clock, on: context.pool
        ) { note -> Result<RemoteItem, SyncFailure> in
            do throws(ProviderError) { return .success(try await body(note)) } catch {
                return .failure(SyncFailure(context.container.remedied(error)))
            }
        }
        if isStalled, case .failure = outcome { throw Self.stalled(path) }
        return try outcome.get()
    }

    private static func stalled(_ path: RelativePath) -> SyncFailure {
        SyncFailure(
            .park, "the provider sent nothing of \(path) for too long; it is tried again later", errno: ETIMEDOUT)
    }
}

extension AnnouncedChange {
    /// What is known of the attributes that a base's document was uploaded with; nil where they are not.
    init?(_ base: BaseRecord) {
        guard let mode = base.mode else { return nil }
        self.init(base.path, base.version, RemoteAttributes(mtime: base.mtime, mode: mode))
    }
}
