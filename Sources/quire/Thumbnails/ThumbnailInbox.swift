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

        var isEmpty: Bool {
            touched.isEmpty && gone.isEmpty && moved.isEmpty && given.isEmpty && !asks && !isIncomplete
        }
    }

    /// Most inodes that are remembered.
    private static let limit = 20_000

    private let next: any StoreEventSink
    // Innermost lock; the signal is raised outside.
    private let news = Lock(News())
    let signal = WakeSignal()

    init(before next: any StoreEventSink) { self.next = next }

    func record(_ event: StoreEvent) {
        next.record(event)
        guard let note = Self.note(event) else { return }
        let isFirst = news.withLock { news in
            let isFirst = news.isEmpty
            guard news.touched.count + news.gone.count + news.moved.count < Self.limit else {
                news = News(isIncomplete: true)
                return isFirst
            }
            if !news.isIncomplete { note(&news) }
            return isFirst
        }
        if isFirst { signal.raise() }
    }

    /// A picture was put into the user's cache for a document.
    func noteGiven(_ path: RelativePath) {
        // Bounded by the requests that programs make at one time: each is seen to within a second.
        news.withLock { _ = $0.given.insert(path) }
        signal.raise()
    }

    /// Somebody synchronised: what providers have of thumbnails comes, too.
    func noteSync() {
        news.withLock { $0.asks = true }
        signal.raise()
    }

    /// Whether nothing happened.
    var isEmpty: Bool { news.withLock { $0.isEmpty } }

    /// What happened since the last call.
    func take() -> News {
        news.withLock { news in
            defer { news = News() }
            return news
        }
    }

    /// What an event means; nil where it is nothing to thumbnails.
    private static func note(_ event: StoreEvent) -> (@Sendable (inout News) -> Void)? {
        switch event {
        case .created(_, _, let status): touching(status)
        case .contentChanged(let status, let writersOpen), .attributesChanged(let status, let writersOpen):
            writersOpen ? nil : touching(status)
        case .removed(_, _, let inode): { $0.gone.insert(inode) }
        case .renamed(let rename):
            {
                touching(rename.status, isMove: true)?(&$0)
                if let replaced = rename.replaced { $0.gone.insert(replaced) }
                if let exchanged = rename.exchanged { touching(exchanged, isMove: true)?(&$0) }
            }
        case .committed(let commit): note(commit.change)
        case .uploading, .acknowledged, .baseRemoved, .baseMoved: nil
        }
    }

    private static func note(_ change: StoreEvent.Commit.Change) -> (@Sendable (inout News) -> Void)? {
        switch change {
        case .installed(_, _, let status, _), .attributes(let status): touching(status)
        case .moved(_, _, _, _, let status): touching(status, isMove: true)
        case .removed(_, _, let inode): { $0.gone.insert(inode) }
        }
    }

    private static func touching(_ status: FileStatus, isMove: Bool = false) -> (@Sendable (inout News) -> Void)? {
        switch status.kind {
        case .file: { $0.touched.insert(status.inode) }
        case .directory where isMove: { $0.moved.insert(status.inode) }
        default: nil
        }
    }
}
