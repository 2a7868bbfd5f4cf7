import QuireCore
import QuireSync
import Synchronization

/// What happened to files in the store since the keeper of thumbnails looked last.
///
/// Stands before the index: every event is passed on first. Callable from any thread.
final class ThumbnailInbox: StoreEventSink {
    /// Inodes, as the index finds items by them.
    struct News: Sendable {
        var touched: Set<UInt64> = []
        var gone: Set<UInt64> = []
        /// Directories that have another path now.
        var moved: Set<UInt64> = []
        /// Documents that were given a picture.
        var given: Set<RelativePath> = []
        /// Providers are to be asked for what they have.
        var asks = false
        /// More happened than is remembered: all is to be looked at.
        var isIncomplete = false

        var inodeCount: Int { touched.count + gone.count + moved.count }

        var isEmpty: Bool {
            touched.isEmpty && gone.isEmpty && moved.isEmpty && given.isEmpty && !asks && !isIncomplete
        }
    }

    /// Most inodes that are remembered.
    private static let limit = 20_000

    private struct State {
        var news = News()
        var count = 0
        var filter = ThumbnailFilter()
    }

    private let next: any StoreEventSink
    // Innermost lock; the signal is raised outside.
    private let state = Lock(State())
    let signal = WakeSignal()

    init(before next: any StoreEventSink) { self.next = next }

    /// From now on, files that cannot get a picture are passed over.
    func setInterest(_ interest: ThumbnailInterest) { state.withLock { $0.filter.interest = interest } }

    /// Whatever its name, all that happens to the file is to be told: it has, or is about to get, a picture.
    func track(_ inode: UInt64) { state.withLock { $0.filter.track(inode) } }

    func record(_ event: StoreEvent) {
        next.record(event)
        guard Self.concerns(event) else { return }
        let isFirst = state.withLock { state in
            guard state.filter.passes(event) else { return false }
            state.count += 1
            let isFirst = state.news.isEmpty
            if state.news.isIncomplete { return isFirst }
            if state.news.inodeCount < Self.limit {
                state.news.note(event)
            } else {
                state.news = News(isIncomplete: true)
            }
            return isFirst
        }
        if isFirst { signal.raise() }
    }

    /// Whether an event is anything to thumbnails.
    private static func concerns(_ event: StoreEvent) -> Bool {
        switch event {
        case .created(_, _, let status): status.kind == .file
        case .contentChanged(let status, let writersOpen), .attributesChanged(let status, let writersOpen, _):
            !writersOpen && status.kind == .file
        case .removed, .renamed, .committed: true
        case .uploading, .acknowledged, .baseRemoved, .removing, .baseMoved, .counted: false
        }
    }

    /// A picture was put into the user's cache for a document.
    func noteGiven(_ path: RelativePath) {
        // Bounded by the requests that programs make at one time: each is seen to within a second, or ten while much happens.
        state.withLock { _ = $0.news.given.insert(path) }
        signal.raise()
    }

    /// Somebody synchronised: what providers have of thumbnails comes, too.
    func noteSync() {
        state.withLock { $0.news.asks = true }
        signal.raise()
    }

    /// How much has happened so far.
    var count: Int { state.withLock { $0.count } }

    /// Whether nothing happened.
    var isEmpty: Bool { state.withLock { $0.news.isEmpty } }

    /// What happened since the last call.
    func take() -> News {
        state.withLock { state in
            defer { state.news = News() }
            return state.news
        }
    }
}

extension ThumbnailInbox.News {
    fileprivate mutating func note(_ event: StoreEvent) {
        switch event {
        case .created(_, _, let status), .contentChanged(let status, _), .attributesChanged(let status, _, _):
            touch(status)
        case .removed(_, _, let inode): gone.insert(inode)
        case .renamed(let rename):
            touch(rename.status, isMove: true)
            if let replaced = rename.replaced { gone.insert(replaced) }
            if let exchanged = rename.exchanged { touch(exchanged, isMove: true) }
        case .committed(let commit): note(commit.change)
        case .uploading, .acknowledged, .baseRemoved, .removing, .baseMoved, .counted: break
        }
    }

    private mutating func note(_ change: StoreEvent.Commit.Change) {
        switch change {
        case .installed(_, _, let status, _), .attributes(let status): touch(status)
        case .moved(_, _, _, _, let status): touch(status, isMove: true)
        case .removed(_, _, let inode): gone.insert(inode)
        }
    }

    private mutating func touch(_ status: FileStatus, isMove: Bool = false) {
        if status.kind == .file { touched.insert(status.inode) }
        if status.kind == .directory, isMove { moved.insert(status.inode) }
    }
}
