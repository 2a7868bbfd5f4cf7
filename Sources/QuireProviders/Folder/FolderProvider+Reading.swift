import Glibc
package import QuireCore

extension FolderProvider {
    package func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        try await perform { (session, cancellation) throws(ProviderError) in
            if let cursor, try self.digest(session, cancellation)?.cursor == cursor {
                try session.confirmMarker(root: self.root, self.versions)
                return .none(next: cursor)
            }
            let items = try self.list(session, cancellation)
            try session.confirmMarker(root: self.root, self.versions)
            var digest = ListingDigest()
            for item in items { digest.add(item) }
            let next = digest.cursor
            return next == cursor ? .none(next: next) : .everything(items, next: next)
        }
    }

    package func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        try validateReading(path)
        return try await perform { (session, _) throws(ProviderError) in
            guard let name = path.name else {
                return self.versions.item(path, try Self.facts(of: session.root, path))
            }
            guard let parent = try session.parent(of: path) else { return nil }
            guard let item = try self.settledItem(path, name, in: parent, session) else { return nil }
            return try self.isListed(path, name, in: parent) ? item : nil
        }
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        return try await perform { (session, cancellation) throws(ProviderError) in
            try self.fetchNow(path, version, destination, session, cancellation, progress)
        }
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        return try await perform { (session, cancellation) throws(ProviderError) in
            guard let name = path.name, let parent = try session.parent(of: path) else {
                throw ProviderError.notFound(path)
            }
            let source = try Self.openDocument(path, name, in: parent)
            let facts = try Self.facts(of: source, path)
            guard self.versions.version(of: facts) == version, facts.size >= range.upperBound else {
                throw ProviderError.refused(path)
            }
            let sink = try PartSink(destination, for: path, range)
            let down = self.traffic.down
            try ContentCopy.read(path, range, of: source.descriptor, cancellation, down) {
                (bytes) throws(ProviderError) in
                try sink.write(bytes)
                self.hooks.duringFetch?(path)
                // Others may write in place: what was read before this look is of that version.
                guard try Self.facts(of: source, path).isSameContent(as: facts) else {
                    throw ProviderError.refused(path)
                }
                progress(sink.size)
            }
            return self.versions.item(path, facts, version: version)
        }
    }

    private func fetchNow(
        _ path: RelativePath, _ version: ProviderVersion, _ destination: String, _ session: borrowing FolderSession,
        _ cancellation: Cancellation, _ progress: @Sendable (ByteCount) -> Void
    ) throws(ProviderError) -> RemoteItem {
        guard let name = path.name, let parent = try session.parent(of: path) else {
            throw ProviderError.notFound(path)
        }
        let source = try Self.openDocument(path, name, in: parent)
        let facts = try Self.facts(of: source, path)
        guard self.versions.version(of: facts) == version else { throw ProviderError.refused(path) }
        return try Self.creating(destination, for: path) { (target) throws(ProviderError) in
            let copied = try ContentCopy.copy(
                path, from: source.descriptor, to: target, expected: facts.size, cancellation: cancellation,
                bandwidth: self.traffic.down,
                progress: { bytes in
                    self.hooks.duringFetch?(path)
                    progress(bytes)
                })
            let after = try Self.facts(of: source, path)
            guard after.isSameContent(as: facts), copied.size.bytes == facts.size else {
                throw ProviderError.refused(path)
            }
            return self.versions.item(path, facts, version: version, checksum: copied.checksum)
        }
    }

    private static func openDocument(
        _ path: RelativePath, _ name: FileName, in parent: borrowing OpenFile
    ) throws(ProviderError) -> OpenFile {
        let directory = parent.descriptor
        let found = try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            try SystemCalls.status(at: directory, name)
        }
        guard let found else { throw ProviderError.notFound(path) }
        guard found.kind == .file else {
            throw ProviderError(
                .unsupported, "\(path) is a \(found.kind.rawValue) at the provider: it has no content to fetch")
        }
        return try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            try SystemCalls.open(at: directory, name, O_RDONLY | O_NONBLOCK)
        }
    }

    /// Creates the file at `destination`, fills it by `body`, and removes it when that fails.
    private static func creating<Value>(
        _ destination: String, for path: RelativePath, _ body: (Int32) throws(ProviderError) -> Value
    ) throws(ProviderError) -> Value {
        let target = try ErrnoTranslation.about(path, "brought to \(destination)") { () throws(SystemFailure) in
            OpenFile(
                taking: try SystemCalls.check("open") {
                    open(destination, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                })
        }
        do throws(ProviderError) {
            return try body(target.descriptor)
        } catch {
            _ = unlink(destination)
            throw error
        }
    }

    /// Whether what is found at `name` has that name, and not another that is the same to the filesystem.
    private func isListed(
        _ path: RelativePath, _ name: FileName, in parent: borrowing OpenFile
    ) throws(ProviderError) -> Bool {
        if capabilities.folding.isEmpty { return true }
        let directory = parent.descriptor
        return try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            try DirectoryNames.contains(name, in: directory)
        }
    }

    /// The item at `name` once its version is sure to change with the next write; nil where nothing that is listed is.
    func settledItem(
        _ path: RelativePath, _ name: FileName, in parent: borrowing OpenFile, _ session: borrowing FolderSession
    ) throws(ProviderError) -> RemoteItem? {
        let directory = parent.descriptor
        return try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            for attempt in 0..<3 {
                let begun = FolderClock.Moment.now()
                guard let facts = try SystemCalls.status(at: directory, name), facts.kind.isSynced else { return nil }
                let target =
                    facts.kind == .symlink
                    ? try name.withCString { (text) throws(SystemFailure) in
                        try SystemCalls.readSymlink(at: directory, text, size: facts.size)
                    } : nil
                guard facts.kind == .file, self.isRacy(facts.mtime, since: begun, session) else {
                    return self.versions.item(path, facts, target: target)
                }
                if attempt == 2 { return self.versions.item(path, facts, version: self.versions.unsettled(facts)) }
                self.waitUntilSettled(facts.mtime)
            }
            return nil
        }
    }

    /// Whether anything changed is asked at each poll, of a million items as well: this asks in memory for the directories
    /// alone. Nil where something was written so recently that only `list` can tell.
    private func digest(
        _ session: borrowing FolderSession, _ cancellation: Cancellation
    ) throws(ProviderError) -> ListingDigest? {
        let (begun, clock, granularity, versions) = (FolderClock.Moment.now(), clock, granularity, versions)
        var walk = try FolderWalk(
            root: session.root, cancellation: cancellation, hooks: hooks, inodesStay: versions.inodesStay
        ) { entry in
            entry.facts.kind == .file
                && clock.isRacy(entry.facts.mtime, since: begun, until: .now(), granularity: granularity)
                ? nil : versions.item(entry.path, entry.facts, target: entry.target)
        }
        return try walk.digest()
    }

    private func list(
        _ session: borrowing FolderSession, _ cancellation: Cancellation
    ) throws(ProviderError) -> [RemoteItem] {
        let begun = FolderClock.Moment.now()
        var walk = try FolderWalk(
            root: session.root, cancellation: cancellation, hooks: hooks, inodesStay: versions.inodesStay)
        let entries = try walk.run()
        let versions = versions
        var items = walk.unseen
        items.reserveCapacity(entries.count)
        for entry in entries {
            if entry.facts.kind == .file, isRacy(entry.facts.mtime, since: begun, session) {
                try cancellation.check()
                guard let name = entry.path.name, let parent = try session.parent(of: entry.path) else { continue }
                if let item = try settledItem(entry.path, name, in: parent, session) { items.append(item) }
            } else {
                items.append(versions.item(entry.path, entry.facts, target: entry.target))
            }
        }
        return items
    }

    /// Whether what has that mtime may be changed again without its mtime changing.
    ///
    /// - Parameter since: before that was looked at.
    func isRacy(_ mtime: FileTime, since: FolderClock.Moment, _ session: borrowing FolderSession) -> Bool {
        let (now, granularity) = (FolderClock.Moment.now(), granularity)
        guard clock.isRacy(mtime, since: since, until: now, granularity: granularity) else { return false }
        guard clock.isVague(at: now, granularity: granularity) else { return true }
        setClock(session)
        return clock.isRacy(mtime, since: since, until: now, granularity: granularity)
    }

    /// Waits until a write could no longer leave `mtime` as it is: at most twice `versionGranularity`.
    func waitUntilSettled(_ mtime: FileTime) {
        SystemCalls.sleep(nanoseconds: clock.timeToSettle(mtime, at: .now(), granularity: granularity))
    }

    static func facts(of file: borrowing OpenFile, _ path: RelativePath) throws(ProviderError) -> FileFacts {
        let descriptor = file.descriptor
        return try ErrnoTranslation.about(path, "read") { () throws(SystemFailure) in
            try SystemCalls.status(of: descriptor)
        }
    }
}
