import QuireCore
import QuireProviders
import Synchronization

/// A provider that lists everything only when that is asked for or due; in between it answers with what was told to it.
final class FeedProvider: ForwardingProvider {
    private struct State {
        var isListingDue = false
        var changed: [RemoteItem] = []
        var removed: [RelativePath] = []
        var listings = 0
        var isSetBack = false
        /// What a listing does not see.
        var unseen: Set<RelativePath> = []
    }

    let inner: any DocumentProvider
    /// What a listing has.
    private let items: @Sendable () -> [RemoteItem]
    /// Innermost lock: nothing else is taken while it is held.
    private let state = Lock(State())

    /// - Parameter memory: at the end of what `inner` asks; announces.
    init(_ memory: MemoryProvider, through inner: (any DocumentProvider)? = nil) {
        self.inner = inner ?? memory
        items = { memory.items }
    }

    /// How often everything was listed.
    var listings: Int { state.withLock { $0.listings } }

    /// All there is, is older than what was told before.
    func setBack() {
        state.withLock { $0.isSetBack = true }
        expectListing()
    }

    func setBack(before cursor: ChangeCursor, next: ChangeCursor) async throws(ProviderError) -> ChangeCursor? {
        state.withLock { state in
            defer { state.isSetBack = false }
            return state.isSetBack ? ChangeCursor("set back") : nil
        }
    }

    /// The next question is answered with all there is.
    func expectListing() { state.withLock { $0.isListingDue = true } }

    /// From now on listings do not see what is there.
    func hide(_ places: Set<RelativePath>) {
        state.withLock { $0.unseen = places }
        expectListing()
    }

    /// The next question is answered with this.
    func tell(_ changed: [RemoteItem] = [], removed: [RelativePath] = []) {
        state.withLock { ($0.changed, $0.removed) = (changed, removed) }
    }

    func changes(since cursor: ChangeCursor?) async throws(ProviderError) -> RemoteChanges {
        _ = try await inner.changes(since: cursor)
        return state.withLock { state in
            let items =
                items().filter { !$0.path.isInside(anyOf: state.unseen) }
                + state.unseen.map { .unseen($0, because: "the server says 403") }
            if let cursor, !state.isListingDue {
                defer { (state.changed, state.removed) = ([], []) }
                if state.changed.isEmpty, state.removed.isEmpty { return .none(next: cursor) }
                return .changes(state.changed, removed: state.removed, next: ChangeCursor("told"))
            }
            state.listings += 1
            state.isListingDue = false
            // The same again when everything is again as it was.
            let next = ChangeCursor(items.map { "\($0.path) \($0.version.rawValue)" }.joined(separator: "\n"))
            return next == cursor ? .none(next: next) : .everything(items, next: next)
        }
    }

    func announce(_ changes: [AnnouncedChange]?) async throws(ProviderError) { try await inner.announce(changes) }
}
