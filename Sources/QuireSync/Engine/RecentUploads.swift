import QuireCore
import Synchronization

/// What this device sent a short while ago, and how it tells where that is at the provider now.
///
/// Some stores let two requests at the same moment both win, and one of two documents is gone though its upload was
/// acknowledged. The device that sent it has its content still, and takes what it finds at the provider for another device's
/// edit or deletion: of what it sent within the last hour, and finds nowhere, it keeps a version before it goes. In memory:
/// after a restart nothing is known of it.
final class RecentUploads: Sendable {
    private struct State {
        /// When each version was sent.
        var sent: [ProviderVersion: Duration] = [:]
        /// Of those, what the last listing, or the last changes, had at some path.
        var present: Set<ProviderVersion> = []
        /// When documents that were removed elsewhere were kept.
        var kept: [Duration] = []
        /// What the provider has is older than what is here.
        var isSetBack = false
    }

    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    private static let span: Duration = .seconds(3600)
    /// So many are remembered.
    private static let most = 10_000
    /// So many of those that are gone are kept in an hour: whoever deletes more has deleted a directory.
    private static let mostRemoved = 100

    /// - Parameter now: the machine's uptime, as everywhere here.
    func note(_ version: ProviderVersion, now: Duration) {
        state.withLock { state in
            if state.sent.count >= Self.most { state.sent = state.sent.filter { now - $0.value < Self.span } }
            guard state.sent.count < Self.most else { return }
            state.sent[version] = now
        }
    }

    /// The provider gives what it calls `before` another version by now, as some do when they move a document.
    func follow(_ before: ProviderVersion, to version: ProviderVersion) {
        guard before != version else { return }
        state.withLock { state in
            if let sent = state.sent[before] { state.sent[version] = sent }
        }
    }

    /// Notes what the provider has told.
    func look(at items: [RemoteItem]) {
        state.withLock { state in
            state.present = []
            guard !state.sent.isEmpty else { return }
            for item in items where state.sent[item.version] != nil { state.present.insert(item.version) }
        }
    }

    /// Whether the provider was set back before its last listing: whatever that replaces is newer.
    func providerIsSetBack(_ isSetBack: Bool) { state.withLock { $0.isSetBack = isSetBack } }

    /// Whether a version was sent a while ago: whether the provider has it still, only a look tells.
    func contains(_ version: ProviderVersion, now: Duration) -> Bool {
        state.withLock { state in state.sent[version].map { now - $0 < Self.span } ?? false }
    }

    /// Whether a version was sent a while ago, and is not known to be at the provider under some name.
    ///
    /// - Parameter isRemoved: the provider has nothing of it, rather than something else.
    func isMissing(_ version: ProviderVersion, isRemoved: Bool, now: Duration) -> Bool {
        state.withLock { state in
            if state.isSetBack, !isRemoved { return true }
            guard let sent = state.sent[version], now - sent < Self.span, !state.present.contains(version) else {
                return false
            }
            guard isRemoved else { return true }
            state.kept.removeAll { now - $0 >= Self.span }
            guard state.kept.count < Self.mostRemoved else { return false }
            state.kept.append(now)
            return true
        }
    }
}
