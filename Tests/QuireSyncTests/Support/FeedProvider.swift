import QuireCore
import QuireProviders
import Synchronization

/// A provider that lists everything only when that is asked for or due; in between it answers with what was told to it.
final class FeedProvider: DocumentProvider {
    private struct State {
        var isListingDue = false
        var changed: [RemoteItem] = []
        var removed: [RelativePath] = []
        var listings = 0
        var isSetBack = false
        /// What a listing does not see.
        var unseen: Set<RelativePath> = []
    }

    private let inner: any DocumentProvider
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

    var capabilities: ProviderCapabilities { inner.capabilities }

    func connect(expected: String?) async throws(ProviderError) -> String {
        try await inner.connect(expected: expected)
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

    func item(at path: RelativePath) async throws(ProviderError) -> RemoteItem? { try await inner.item(at: path) }

    func fetch(
        _ path: RelativePath, version: ProviderVersion, to destination: String,
        progress: @escaping @Sendable (ByteCount) -> Void
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.fetch(path, version: version, to: destination, progress: progress)
    }

    func put(
        _ path: RelativePath, content: UploadContent, attributes: RemoteAttributes, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.put(path, content: content, attributes: attributes, expecting: expecting)
    }

    func putSymlink(
        _ path: RelativePath, target: [UInt8], mtime: FileTime, expecting: Precondition
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.putSymlink(path, target: target, mtime: mtime, expecting: expecting)
    }

    func createDirectory(
        _ path: RelativePath, attributes: RemoteAttributes
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.createDirectory(path, attributes: attributes)
    }

    func setAttributes(
        _ path: RelativePath, _ attributes: RemoteAttributes, expecting version: ProviderVersion
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.setAttributes(path, attributes, expecting: version)
    }

    func move(
        _ path: RelativePath, to destination: RelativePath, expecting version: ProviderVersion?
    ) async throws(ProviderError) -> RemoteItem {
        try await inner.move(path, to: destination, expecting: version)
    }

    func delete(_ path: RelativePath, expecting version: ProviderVersion?) async throws(ProviderError) {
        try await inner.delete(path, expecting: version)
    }

    func freeSpace() async throws(ProviderError) -> ByteCount? { try await inner.freeSpace() }
}
