import QuireCore
import QuireStore
import Synchronization

/// Documents that are sent from where they are, without a copy.
extension ChangeSender {
    /// The document itself, opened, where it can be sent so; nil where a snapshot is taken.
    func live(_ change: PendingChange, _ local: LocalEntry) async throws(SyncFailure) -> LiveFile? {
        guard let provider = context.directProvider, provider.takesLiveDocuments, local.facts.kind == .file,
            local.facts.size > DirectContent.mostBytes.bytes, Self.isOther(local.facts.size, change.base),
            // One that is written to all the time would be sent in vain for ever.
            !context.restless.contains(local.id),
            !context.committer.isOpenForWriting(inode: local.fingerprint.inode)
        else { return nil }
        let (path, tree, now) = (context.drivePath(local.path), context.tree, context.clock.now)
        let file = try await context.whileReading(path) { () async throws(SyncFailure) in
            try await context.store { () throws(StoreError) in try LiveFile.open(tree, path, now: now) }
        }
        guard let file, Self.isOther(file.status.size, change.base) else { return nil }
        guard file.fingerprint.inode == local.fingerprint.inode else {
            throw SyncFailure(.later, "another item is at \(local.path) now")
        }
        return file
    }

    /// Whether the provider certainly has other content: of the same size it may be the same, which a checksum tells that is
    /// known before.
    private static func isOther(_ size: Int64, _ base: BaseRecord?) -> Bool {
        base.map { $0.checksum == nil || $0.size != size } ?? true
    }

    /// Uploads a document while programs may write to it. One that is written to is not sent to its end: the provider keeps
    /// what it had, and the next round sends a snapshot.
    func upload(
        _ local: LocalEntry, _ file: LiveFile, at path: RelativePath, expecting: Precondition
    ) async throws(SyncFailure) {
        let size = ByteCount(file.status.size)
        let sealed = Lock<ContentChecksum?>(nil)
        let document = LiveDocument(path: file.path, size: size) { (checksum) throws(ProviderError) in
            try await seal(local, file, checksum, at: path)
            sealed.withLock { $0 = checksum }
        }
        let attributes = Self.attributes(local, file.status)
        let item: RemoteItem
        do throws(SyncFailure) {
            item = try await uploading(local, size) { () throws(ProviderError) in
                guard let provider = context.directProvider else {
                    throw ProviderError(.unsupported, "\(path): the provider takes nothing but snapshots")
                }
                return try await provider.put(
                    path, direct: .document(document), attributes: attributes, expecting: expecting)
            }
        } catch {
            guard error.remedy != .cancelled, error.remedy != .offline, try await !isUnchanged(file) else {
                throw error
            }
            context.restless.insert(local.id)
            throw SyncFailure(.later, "\(local.path) changed while it was sent")
        }
        guard let checksum = sealed.withLock({ $0 }) else {
            throw SyncFailure(.park, "\(path): the provider published content that it was not allowed to")
        }
        try await arrived(
            local, item,
            as: SentContent(size: size, checksum: checksum, fingerprint: file.fingerprint, attributes: attributes))
    }

    /// Agrees to what was read, if it is one state of the document, and makes durable what is about to be sent.
    private func seal(
        _ local: LocalEntry, _ file: LiveFile, _ checksum: ContentChecksum, at path: RelativePath
    ) async throws(ProviderError) {
        do throws(SyncFailure) {
            guard try await isUnchanged(file) else {
                throw SyncFailure(.later, "\(local.path) changed while it was sent")
            }
            try await note(local, ByteCount(file.status.size), checksum, file.fingerprint, at: path)
        } catch {
            throw ProviderError(error.remedy == .cancelled ? .cancelled : .corrupt, error.message)
        }
    }

    private func isUnchanged(_ file: LiveFile) async throws(SyncFailure) -> Bool {
        try await context.store { () throws(StoreError) in file.isUnchanged }
    }
}
