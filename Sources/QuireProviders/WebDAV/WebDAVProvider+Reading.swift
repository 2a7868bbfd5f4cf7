package import QuireCore

extension WebDAVProvider {
    package func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor? {
        let ((cursor, isAnother), next) = (client.fingerprint.read(cursor), client.fingerprint.read(next).cursor)
        let back = try await feed?.setBack(before: cursor, next: next)
        return client.fingerprint.marked(back ?? (isAnother ? next : nil))
    }

    package func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        try checkConnected()
        await client.mendReleased()
        await settleRemovals()
        await settleAbilities()
        let reader = FeedReader(
            feed: feed, journal: journal, list: { () async throws(ProviderError) in try await self.list() },
            look: { (path) async throws(ProviderError) in try await self.told(path) },
            listsAttributes: capabilities.attributes)
        // Records of this device's own are not read.
        let isBack = removals.takeReturns()
        do throws(ProviderError) {
            return try await changes(since: isBack ? nil : cursor, reader)
        } catch {
            if isBack { removals.noteReturn() }
            throw error
        }
    }

    /// Where the server was set back since `cursor`, everything: what it tells as removed then was deleted by nobody.
    private func changes(
        since cursor: ChangeCursor?, _ reader: FeedReader
    ) async throws(ProviderError) -> RemoteChanges {
        var known = cursor.map { client.fingerprint.read($0) }
        if known?.isAnother == true { known = nil }
        var changes = try await reader.changes(since: known?.cursor)
        // It may be told with what was asked just now.
        if known != nil, let cursor, client.fingerprint.read(cursor).isAnother {
            changes = try await reader.changes(since: nil)
        }
        let next = { self.client.fingerprint.marked($0) }
        return switch changes {
        case .none(let cursor): .none(next: next(cursor))
        case .everything(let items, let cursor): .everything(items, next: next(cursor))
        case .changes(let changed, let removed, let cursor): .changes(changed, removed: removed, next: next(cursor))
        }
    }

    package func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError) {
        try checkConnected()
        if let journal, journal.tellsAttributes { return }
        try await feed?.announce(ChangeRecord(changes))
    }

    /// As `look`, for who must not stop at one item that the server tells too little of.
    private func told(_ path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        do throws(ProviderError) { return try await look(path)?.item } catch {
            if error.isSecretRefused, try await client.acceptsAccount() {
                return .unseen(path, because: error.cause ?? error.message)
            }
            guard error.code == .failed, let found = try await resource(path) else { throw error }
            return try found.seen(path, stamps: abilities.stamps)
        }
    }

    func list() async throws(ProviderError) -> [RemoteItem] {
        let items = try await DAVWalk(
            client: client, stamps: abilities.stamps, listsAll: abilities.listsAll,
            noted: { self.noteDeepListing(failure: $0) }
        ).list()
        try await confirm(always: true)
        return items
    }

    package func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? {
        try checkConnected()
        try validateReading(path)
        // What is gone here is taken off the device: a mark that was seen a moment ago says nothing of now.
        return try await look(path, isAlwaysConfirmed: true)?.item
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try checkConnected()
        if let revision = DAVRevision(version) {
            return try await fetch(path, revision, to: destination, progress: progress)
        }
        let pool = client.transport.pool
        let sink = FileSink(destination, for: path, pool: pool)
        let answer: HTTPAnswer
        do throws(ProviderError) {
            answer = try await receive(client.request(contentOf: path)) { (piece) throws(ProviderError) in
                try await sink.write(piece)
                progress(ByteCount(sink.size))
            }
        } catch {
            // A document that was replaced half way ends early on servers that write in place.
            if error.code == .unavailable, let now = try await look(path), now.item.version != version {
                throw ProviderError.refused(path)
            }
            throw error
        }
        if answer.status == 404 || answer.status == 410 {
            throw try await look(path) == nil ? ProviderError.notFound(path) : ProviderError.refused(path)
        }
        // Some servers answer for a directory, and some replace a document while it is read.
        guard let found = try await look(path) else { throw ProviderError.refused(path) }
        guard found.item.kind == .file else {
            throw ProviderError(.unsupported, "\(path) is a directory at the provider: it has no content to fetch")
        }
        guard found.item.version == version else { throw ProviderError.refused(path) }
        guard answer.isSuccess else { throw client.transport.error(answer, "\(path) cannot be read") }
        guard found.item.size.bytes == sink.size else { throw ProviderError.refused(path) }
        var item = found.item
        item.checksum = try await sink.keep(item.checksum)
        return item
    }

    package func fetch(
        _ path: RelativePath, version: ProviderVersion, range: Range<Int64>, into destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try validate(path)
        try checkConnected()
        let pool = client.transport.pool
        let sink = try await pool.run { (_) throws(ProviderError) in try PartSink(destination, for: path, range) }
        // Where documents are replaced as a whole, what the head says holds for all that follows it.
        let isSure = abilities.putsWhole
        var (namesVersion, total, modified) = (false, Int64?.none, FileTime.unknown)
        let answer = try await receive(client.request(contentOf: path, range)) { (answer) throws(ProviderError) in
            modified = answer.lastModified ?? .unknown
            if let tag = answer.fields["ETag"] {
                let now = DAVVersion.version(entityTag: tag, size: range.upperBound, modified: answer.lastModified)
                // A listing may give another tag than a look at the document itself.
                namesVersion = now == version
            }
            total = try ContentRange.total(answer, range, path)
        } each: { (piece) throws(ProviderError) in
            try await pool.run { (_) throws(ProviderError) in try sink.write(piece) }
            progress(isSure && namesVersion ? sink.size : .zero)
        }
        if isSure, namesVersion, let total, sink.isFull {
            return RemoteItem(path: path, kind: .file, version: version, size: ByteCount(total), mtime: modified)
        }
        // As for whole documents.
        guard let found = try await look(path) else { throw ProviderError.notFound(path) }
        guard found.item.version == version else { throw ProviderError.refused(path) }
        guard total != nil else { throw client.transport.error(answer, "\(path) cannot be read") }
        guard sink.isFull else { throw ProviderError.cut(path) }
        progress(sink.size)
        return found.item
    }

    /// What is at `path` now; nil where nothing is, in a store that was there a moment ago.
    ///
    /// - Parameter isAlwaysConfirmed: where nothing is, the store is there after that, for one more request.
    func look(
        _ path: RelativePath, isAlwaysConfirmed: Bool = false
    ) async throws(ProviderError) -> DAVFinding? {
        // A server that deletes before it moves something there shows nothing for a moment.
        for pause in abilities.putsWhole ? [Duration.zero] : [.zero, .milliseconds(10), .milliseconds(40)] {
            if pause > .zero { try? await Task.sleep(for: pause) }
            if let found = try await resource(path) {
                return DAVFinding(
                    item: try found.item(path, stamps: abilities.stamps), entityTag: found.entityTag,
                    modified: found.modified, told: found.told)
            }
        }
        try await confirm(always: isAlwaysConfirmed)
        return nil
    }

    /// One look.
    ///
    /// - Parameter body: what is asked.
    func resource(
        _ path: RelativePath, _ body: [UInt8] = DAVBodies.propfind
    ) async throws(ProviderError) -> DAVResource? {
        do throws(ProviderError) {
            return try await client.propfind(path, depth: "0", body: body)?.first { $0.path == path }?.resource
        } catch {
            // Below a file is nothing, which servers say in different ways.
            guard [.permissionDenied, .unsupported, .failed, .parentMissing].contains(error.code),
                let parent = path.parent, try await !isDirectory(parent)
            else { throw error }
            return nil
        }
    }
}
