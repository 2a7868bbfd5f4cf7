import Glibc
import QuireCore
import QuireSync
import Synchronization

/// The driver needs a content source before there is one: the sync engine itself needs the driver. Who asks for content
/// meanwhile waits.
final class LateSync: ContentSource {
    private typealias Waiter = CheckedContinuation<SyncService?, Never>

    private struct State {
        var service: SyncService?
        var waiters: [UInt64: Waiter] = [:]
        var next: UInt64 = 0
    }

    // Taken alone; waiters are resumed outside.
    private let state = Lock(State())

    private var service: SyncService? { state.withLock { $0.service } }

    /// From now on `service` is asked.
    func bind(_ service: SyncService) {
        let waiters = state.withLock { state in
            state.service = service
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: service) }
    }

    func materialize(path: RelativePath, inode: UInt64) async throws(MaterializeError) {
        try await started(path).materialize(path: path, inode: inode)
    }

    func open(path: RelativePath, inode: UInt64) async throws(MaterializeError) -> (any ArrivingContent)? {
        try await started(path).open(path: path, inode: inode)
    }

    /// Returns when there is one. Cancelling the task ends this wait.
    private func started(_ path: RelativePath) async throws(MaterializeError) -> SyncService {
        if let service { return service }
        let ticket = state.withLock { state in
            state.next += 1
            return state.next
        }
        let service = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let service = state.withLock { state in
                    if state.service == nil { state.waiters[ticket] = continuation }
                    return state.service
                }
                if let service { continuation.resume(returning: service) }
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            cancel(ticket)
        }
        guard let service else { throw MaterializeError(errno: EINTR, message: "\(path): interrupted") }
        return service
    }

    private func cancel(_ ticket: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume(returning: nil)
    }

    /// How much is here of an item that comes as it is read; nil where nothing has come.
    func arrived(_ item: ItemID) -> ByteCount? { service?.arrived(item) }

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
