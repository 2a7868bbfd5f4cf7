import QuireCore
import QuireStore
import Synchronization

/// What the provider of the drive's root has left, so that `df` tells of it.
///
/// Nothing is refused for it: what does not fit there stays here, and is sent when there is room.
final class ProviderQuota: Sendable {
    private enum Answer {
        case unasked
        /// The provider knows no limit.
        case none
        case free(ByteCount)
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let answer = Lock(Answer.unasked)

    /// Of room on one file system two numbers taken one after the other differ by what was written in between.
    private static let sameFileSystem: Int64 = 64 << 20

    /// What was said before the connection was lost may not hold any more.
    func forget() { answer.withLock { $0 = .unasked } }

    /// Finds out what is left, less what waits to be sent, and has statfs tell it.
    ///
    /// - Parameter changed: whether what is kept at the provider has changed, so that it is asked again.
    func note(_ context: SyncContext, changed: Bool) async throws {
        guard context.container.root.isRoot else { return }
        let known = answer.withLock { $0 }
        let free: ByteCount?
        switch known {
        case .none: return
        case .free(let bytes) where !changed: free = bytes
        case .free, .unasked: free = try await ask(context)
        }
        guard let free else { return context.environment.room.setProviderLeft(nil) }
        let store = await context.pool.run { [tree = context.tree] in tree.availableBytes ?? 0 }
        // A folder on the store's own file system, or one with more room: statfs tells already what counts.
        guard free.bytes < store - Self.sameFileSystem else { return context.environment.room.setProviderLeft(nil) }
        let pending = try await context.index.pendingBytes(context.container.id)
        context.environment.room.setProviderLeft(Int(clamping: max(0, free.bytes - pending)))
    }

    private func ask(_ context: SyncContext) async throws -> ByteCount? {
        let free = try await context.ask { () throws(ProviderError) in try await context.provider.freeSpace() }
        answer.withLock { $0 = free.map(Answer.free) ?? .none }
        return free
    }
}
