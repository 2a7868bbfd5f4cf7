import Glibc
import QuireCore
import QuireSync
import QuireTransport
import Synchronization

/// The driver needs a content source before there is one: the sync engine itself needs the driver. Who asks for content
/// meanwhile waits.
final class LateSync: ContentSource {
    // Taken alone.
    private let bound = Lock<SyncService?>(nil)
    private let isBound = CancelSignal()

    private var service: SyncService? { bound.withLock { $0 } }

    /// From now on `service` is asked, which has the pause of an earlier daemon by then: a paused drive begins nothing for who
    /// has waited.
    func bind(_ service: SyncService) async {
        await service.restorePause()
        bound.withLock { $0 = service }
        isBound.fire()
    }

    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        try await started(path).materialize(path: path, inode: inode)
    }

    func open(path: RelativePath, inode: UInt64) async throws(MaterializeError) -> (any ArrivingContent)? {
        try await started(path).open(path: path, inode: inode)
    }

    /// Returns when there is one. Cancelling the task ends this wait.
    private func started(_ path: RelativePath) async throws(MaterializeError) -> SyncService {
        await isBound.wait()
        guard let service else { throw MaterializeError(errno: EINTR, message: "\(path): interrupted") }
        return service
    }

    /// How much is here of an item that comes as it is read; nil where nothing has come.
    func arrived(_ item: ItemID) -> ByteCount? { service?.arrived(item) }

    /// What an item waits for; nil before there is anybody to ask.
    func waiting(_ item: ItemID) async throws -> WaitingUpload? { try await service?.waiting(item) }

    /// What is under way for items.
    func transfers() -> [ItemID: ItemState] {
        let transfers = service?.transfers.current ?? []
        return Dictionary(transfers.map { ($0.item, $0.direction.state) }, uniquingKeysWith: { first, _ in first })
    }

    /// How far what is under way for an item is.
    func progress(_ item: ItemID) -> Transfer? { service?.transfers[item] }

    /// What is under way for an item.
    func transfer(_ item: ItemID) -> ItemState? { service?.transfers[item]?.direction.state }
}

extension Transfer.Direction {
    fileprivate var state: ItemState {
        switch self {
        case .upload: .uploading
        case .download: .downloading
        }
    }
}
