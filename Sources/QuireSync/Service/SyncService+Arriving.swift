import Glibc
import Logging
package import QuireCore
import QuireIndex
import QuireStore

/// Content that comes as it is read.
extension SyncService {
    package func open(
        path: RelativePath, inode: UInt64
    ) async throws(MaterializeError) -> (any ArrivingContent)? {
        var path = path
        // A version that the provider has no more is followed by the next, as often as one would wait for.
        for attempt in 0..<4 {
            do throws(SyncFailure) {
                guard let sight = try await look(at: path), let place = place(sight) else { return nil }
                path = place.item.drivePath
                try await space.admit(ByteCount(place.subject.size), for: path)
                guard let use = try await arriving(place) else { return nil }
                let (document, reader) = (use.document, ArrivingReader(use, inode: place.status.inode))
                // Where nothing can be had, opening fails, not the first reading.
                try await document.wait(
                    for: 0..<min(Self.firstBytes, document.size), bringing: 0..<min(ReadAhead.block, document.size))
                return reader
            } catch {
                if error.remedy == .parkUntilChanged { return nil }
                guard error.remedy == .look else {
                    if error.remedy == .offline { engine(for: path)?.disconnected(error.message) }
                    throw MaterializeError(error)
                }
                try await follow(path, isFirst: attempt == 0)
            }
        }
        return nil
    }

    /// Has the placeholder at a path, whose version the provider has no more, stand for what it has now: by a look at this
    /// one document, or where that does not tell, by a pull of everything.
    private func follow(_ path: RelativePath, isFirst: Bool) async throws(MaterializeError) {
        guard let engine = engine(for: path) else { return }
        do throws(SyncFailure) {
            if let item = try await look(at: path)?.item {
                let outcome = try await ItemLook(context: engine.context).renew(item)
                // Somebody else renewed it; what refuses it again gives other versions than its listings.
                if outcome == .renewed || outcome == .current && isFirst { return }
            }
        } catch {
            guard error.remedy == .offline || error.remedy == .cancelled else {
                logger.info("a document was not looked at by itself", metadata: ["error": "\(error.message)"])
                return try await pull(path, engine)
            }
            if error.remedy == .offline { engine.disconnected(error.message) }
            throw MaterializeError(error)
        }
        try await pull(path, engine)
    }

    private func pull(_ path: RelativePath, _ engine: SyncEngine) async throws(MaterializeError) {
        do throws(SyncFailure) { try await engine.pullForReader(of: path) } catch {
            throw MaterializeError(error)
        }
    }

    /// What the kernel reads first.
    private static let firstBytes: Int64 = 128 << 10

    /// How much is here of an item that comes as it is read; nil where nothing has come.
    package func arrived(_ item: ItemID) -> ByteCount? { arriving.arrived(item) }

    /// A dataless document that is worth bringing in parts.
    struct ArrivingPlace {
        let engine: SyncEngine
        let item: IndexedItem
        let status: FileStatus
        let subject: PartialContent.Subject
    }

    /// Nil where the file comes whole: a small one, or one that the index does not know.
    func place(_ sight: Sight) -> ArrivingPlace? {
        guard let status = sight.status, let item = sight.item, let base = item.base, status.kind == .file,
            status.size > ReadAhead.block, base.size == status.size, sight.mark.isDataless,
            !sight.engine.context.handsOutWholeDocuments.isSet
        else { return nil }
        let subject = PartialContent.Subject(
            item: item.entry.id, container: base.container, version: base.version, size: base.size)
        return ArrivingPlace(engine: sight.engine, item: item, status: status, subject: subject)
    }

    /// The document at a place, made where nobody uses it yet, to be used.
    func arriving(_ place: ArrivingPlace) async throws(SyncFailure) -> ArrivingUse? {
        let (engine, subject, arriving) = (place.engine, place.subject, arriving)
        let use = try await engine.context.store { () throws(StoreError) in
            try arriving.document(subject) { (directory, staging) throws(StoreError) in
                try ArrivingDocument(
                    subject, in: directory, staging: staging, pool: self.pool, board: self.transfers,
                    logger: self.logger,
                    bring: { (document, range, progress) async throws(SyncFailure) in
                        try await self.bring(range, of: document, engine, progress)
                    },
                    noted: { arriving.noteArrival(of: subject.item) }, whole: { self.settle(subject.item) })
            }
        }
        use.document.base = place.item.base
        return use
    }

    /// Brings a range into the file of an arriving document.
    private func bring(
        _ range: Range<Int64>, of document: ArrivingDocument, _ engine: SyncEngine,
        _ progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(SyncFailure) {
        do { try await engine.connect() } catch let error as SyncFailure { throw error } catch {
            throw SyncFailure(.later, "\(error)")
        }
        let item = document.subject.item
        do {
            // Where it was removed here its deletion waits as long as it is read, and what is known of it stays, with the moves
            // that are followed meanwhile.
            if let found = try await environment.index.item(item) { document.base = found.base }
        } catch {
            throw SyncFailure(.later, "\(error)")
        }
        guard let base = document.base, document.isOf(base.version) else {
            throw SyncFailure(.look, "the provider has another version of it now", errno: ESTALE)
        }
        let destination = "\(arriving.directory)/\(item)"
        let reservation = try await space.reserve(
            ByteCount(range.upperBound - range.lowerBound), for: engine.context.drivePath(base.path))
        defer { reservation.release() }
        do throws(SyncFailure) {
            try await Downloader(context: engine.context).fetch(
                base.path, version: document.subject.version, range: range, into: destination
            ) { arrived in
                // From now on it counts as being here.
                reservation.used(arrived)
                progress(arrived)
            }
        } catch {
            if error.remedy == .look { engine.context.touched.insert(base.path) }
            if error.remedy == .parkUntilChanged { engine.context.handsOutWholeDocuments.set() }
            throw error
        }
    }

    /// All of a document has come for its readers: it takes the place of its placeholder.
    private func settle(_ item: ItemID) {
        // Ends with the download, which `run` ends.
        Task {
            do {
                guard let found = try await environment.index.item(item) else { return }
                try await materialize(path: found.drivePath, inode: found.entry.fingerprint.inode)
            } catch {
                logger.info(
                    "a document that is here stays dataless", metadata: ["item": "\(item)", "error": "\(error)"])
            }
        }
    }

    /// Forgets what is here of documents that are whole, emptied or gone by now.
    ///
    /// - Returns: whether something of such a one stays, as somebody uses it.
    @discardableResult
    func sweepArriving() async -> Bool {
        var isInUse = false
        for id in arriving.items {
            do {
                let item = try await environment.index.item(id)
                if let item, case .dataless = item.entry.content { continue }
                if arriving.dropIdle(id) == nil { isInUse = true }
            } catch {
                logger.info("a partial document stays", metadata: ["item": "\(id)", "error": "\(error)"])
            }
        }
        return isInUse
    }

    /// The same after changes of the index, until the task is cancelled.
    func sweepArriving(after commits: AsyncStream<Void>) async {
        for await _ in commits where !arriving.items.isEmpty {
            repeat {
                // Ends early only when the task is cancelled.
                try? await environment.clock.sleep(Self.betweenSweeps)
            } while await sweepArriving() && !Task.isCancelled
        }
    }

    private static let betweenSweeps = Duration.seconds(4)
}
