import Foundation
import Quire
import Synchronization

/// A presenter that notes its callbacks.
///
/// `@unchecked Sendable`: all state is guarded by `lock`.
final class QuietPresenter: FilePresenter, @unchecked Sendable {
    let presentedItemOperationQueue: OperationQueue
    private let lock = NSLock()
    private var url: URL?
    private var notes: [String] = []
    private let stream = AsyncStream.makeStream(of: String.self)
    /// Drops what it is handed to relinquish, without calling it.
    let forgets: Bool

    init(_ url: URL?, forgets: Bool = false, queue: OperationQueue = OperationQueue()) {
        self.url = url
        presentedItemOperationQueue = queue
        self.forgets = forgets
        presentedItemOperationQueue.maxConcurrentOperationCount = 8
    }

    var presentedItemURL: URL? {
        get { lock.withLock { url } }
        set { lock.withLock { url = newValue } }
    }

    /// The first `count` callbacks.
    func heard(_ count: Int) async -> [String] {
        var iterator = stream.stream.makeAsyncIterator()
        while lock.withLock({ notes.count }) < count, await iterator.next() != nil {}
        return lock.withLock { notes }
    }

    private func note(_ text: String) {
        lock.withLock { notes.append(text) }
        stream.continuation.yield(text)
    }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        note("relinquish")
        if !forgets { reader { self.note("reacquire") } }
    }

    func presentedItemDidChange() { note("didChange") }

    func presentedSubitem(at url: URL, didGain version: FileVersion) { note("didGain", url, version) }

    func presentedSubitem(at url: URL, didLose version: FileVersion) { note("didLose", url, version) }

    func presentedSubitem(at url: URL, didResolve version: FileVersion) { note("didResolve", url, version) }

    private func note(_ event: String, _ url: URL, _ version: FileVersion) {
        note("\(event) \(url.lastPathComponent) \(version.isConflict) \(version.isResolved)")
    }

    func presentedItemDidMove(to newURL: URL) {
        lock.withLock { url = newURL }
        note("didMove \(newURL.lastPathComponent)")
    }
}
