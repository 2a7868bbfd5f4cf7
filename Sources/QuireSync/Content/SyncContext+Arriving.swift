import Logging
import QuireCore
import QuireStore

extension SyncContext {
    /// Changes an item's time, mode or place at the provider. What is here in part of its content stays, and goes on
    /// coming, where it is the content of the version that the change makes.
    ///
    /// - Parameters:
    ///   - item: nil where there is none any more.
    ///   - isSure: whether the provider's answer is of the content that was expected, and of no other that another
    ///     program put in its place at the same time; else the checksums tell.
    ///   - record: notes in the index what the change has made.
    func keepingArrived<Recorded>(
        _ item: ItemID?, _ base: BaseRecord, isSure: Bool, _ change: () async throws(SyncFailure) -> RemoteItem,
        record: (RemoteItem) -> Recorded
    ) async throws(SyncFailure) -> Recorded {
        guard let item, base.kind == .file, arriving.isKnown(item) else { return record(try await change()) }
        let document = arriving.beginChange(item)
        defer { document?.endChange() }
        let changed = try await change()
        await follow(item, base, changed, isSure: isSure)
        let recorded = record(changed)
        guard document != nil else { return recorded }
        // What waits for the change to be over asks the index where the document is then.
        do { try await index.settle() } catch {
            logger.info("the index is behind", metadata: ["error": "\(error)"])
        }
        return recorded
    }

    private func follow(_ item: ItemID, _ base: BaseRecord, _ changed: RemoteItem, isSure: Bool) async {
        guard changed.version != base.version, changed.size.bytes == base.size else { return }
        let isSame = base.checksum.flatMap { known in changed.checksum.map { $0 == known } }
        guard isSame ?? isSure else { return }
        let arriving = arriving
        do throws(SyncFailure) {
            try await store { () throws(StoreError) in try arriving.follow(item, base.version, changed.version) }
        } catch {
            // It comes anew.
            logger.info("what is here of a document is not kept", metadata: ["item": "\(item)", "error": "\(error)"])
        }
    }
}
