import Logging
import QuireCore
import QuireStore
import Synchronization

/// Content that a provider took.
struct SentContent: Sendable {
    var size: ByteCount
    var checksum: ContentChecksum
    /// Of the document that it was read from.
    var fingerprint: Fingerprint
    var attributes: RemoteAttributes
}

extension ChangeSender {
    /// Records content that arrived, and what the provider made of it: some servers change what they are sent, as SharePoint does
    /// with office documents.
    ///
    /// Then the provider's is the document as it is now, and what was sent an earlier version. The base gets the provider's version
    /// with the size and the checksum of what was sent: other content of the very version that is known is brought here, at
    /// once or by a pull, and what was sent is kept (`UnitApplier.keepingSent`); what is saved here meanwhile goes over it
    /// (`SyncPlanner`).
    ///
    /// Where less than half is left nobody can mean that: the document stays as it is here, and is sent again when it changes, or
    /// when the user asks for it.
    func arrived(_ local: LocalEntry, _ item: RemoteItem, as sent: SentContent) async throws(SyncFailure) {
        context.recentUploads.note(item.version, now: context.clock.uptime())
        noteOpen(local, sent.fingerprint)
        guard item.kind == .file, item.size != sent.size else {
            return acknowledge(
                local, item, checksum: sent.checksum, fingerprint: sent.fingerprint, sent: sent.attributes)
        }
        guard item.size.bytes >= sent.size.bytes / 2 else {
            let base = context.base(of: item, checksum: nil, sent: sent.attributes.mtime, mode: sent.attributes.mode)
            context.acknowledgeChanged(local.id, base, fingerprint: sent.fingerprint)
            throw SyncFailure(
                .parkUntilChanged,
                "\(local.path) stays as it is on this device: the server changes what it is sent. "
                    + "\(sent.size.bytes) bytes were sent, \(item.size.bytes) are there. Have the server, or what filters "
                    + "before it, set right, and then `quire sync`")
        }
        context.logger.notice(
            "the server changes what it is sent; what it made of a document is brought here, what was sent is kept",
            metadata: [
                "path": "\(context.drivePath(local.path))", "sent": "\(sent.size.bytes)", "there": "\(item.size.bytes)",
            ])
        try await bring(item, local, sent)
    }

    /// - Throws: `.look` where a pull is to do it.
    private func bring(
        _ item: RemoteItem, _ local: LocalEntry, _ sent: SentContent
    ) async throws(SyncFailure) {
        var base = context.base(
            of: item, checksum: sent.checksum, sent: sent.attributes.mtime, mode: sent.attributes.mode)
        base.size = sent.size.bytes
        context.acknowledge(local.id, base, fingerprint: sent.fingerprint, known: local.fingerprint)
        var here = local
        (here.content, here.fingerprint) = (.asBase, sent.fingerprint)
        let unit = TreeUnit(base: base, local: here, remote: item, target: local.path, plan: [.updateLocal])
        guard await UnitApplier(context: context, made: MadeDirectories()).apply(unit) == .done else {
            throw SyncFailure(.look, "\(local.path): what the server made of it could not be brought here yet")
        }
    }
}

/// Uploads that were taken, and of which the provider had something else right after, by the document that was sent.
final class TakenUploads: Sendable {
    /// Innermost lock: nothing else is taken while it is held.
    private let counts = Lock<[ItemID: Int]>([:])

    func note(_ item: ItemID) { counts.withLock { $0[item, default: 0] += 1 } }

    /// It arrived, or is the provider's now.
    func settle(_ item: ItemID) { _ = counts.withLock { $0.removeValue(forKey: item) } }

    /// Whether that was so again after the document had become a conflict copy: nobody else has written that.
    func isRepeated(_ item: ItemID) -> Bool { counts.withLock { $0[item] ?? 0 > 1 } }
}
