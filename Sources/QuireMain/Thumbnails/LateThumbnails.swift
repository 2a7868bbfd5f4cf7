import QuireCore
import Synchronization

/// The driver's attributes are there before the keeper of thumbnails is.
final class LateThumbnails: Sendable {
    let inbox: ThumbnailInbox
    // Taken alone.
    private let bound = Lock<ThumbnailKeeper?>(nil)

    init(inbox: ThumbnailInbox) { self.inbox = inbox }

    /// From now on `keeper` is asked.
    func bind(_ keeper: ThumbnailKeeper) { bound.withLock { $0 = keeper } }

    var keeper: ThumbnailKeeper? { bound.withLock { $0 } }
}
