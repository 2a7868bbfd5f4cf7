import Glibc
import QuireCore
import QuireSync
import Synchronization

/// The driver needs a content source before there is one: the sync engine itself needs the driver.
final class LateSync: ContentSource {
    // Taken alone.
    private let service = Lock<SyncService?>(nil)

    /// From now on `service` is asked.
    func bind(_ service: SyncService) { self.service.withLock { $0 = service } }

    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        try await started(path).materialize(path: path, inode: inode)
    }

    func open(path: RelativePath, inode: UInt64) async throws(MaterializeError) -> (any ArrivingContent)? {
        try await started(path).open(path: path, inode: inode)
    }

    private func started(_ path: RelativePath) throws(MaterializeError) -> SyncService {
        guard let service = service.withLock({ $0 }) else {
            throw MaterializeError(errno: EAGAIN, message: "\(path): the drive is starting")
        }
        return service
    }

    /// How much is here of an item that comes as it is read; nil where nothing has come.
    func arrived(_ item: ItemID) -> ByteCount? { service.withLock({ $0 })?.arrived(item) }

    /// What is under way for items.
    func transfers() -> [ItemID: ItemState] {
        let transfers = service.withLock({ $0 })?.transfers.current ?? []
        return Dictionary(transfers.map { ($0.item, $0.direction.state) }, uniquingKeysWith: { first, _ in first })
    }

    /// How far what is under way for an item is.
    func progress(_ item: ItemID) -> Transfer? { service.withLock({ $0 })?.transfers[item] }

    /// What is under way for an item.
    func transfer(_ item: ItemID) -> ItemState? { service.withLock({ $0 })?.transfers[item]?.direction.state }
}

extension Transfer.Direction {
    fileprivate var state: ItemState {
        switch self {
        case .upload: .uploading
        case .download: .downloading
        }
    }
}
