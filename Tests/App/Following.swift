import Foundation
import Quire

/// A presenter of a document that holds a number, which others put in its place one higher each time: whenever it is told
/// that the document changed it reads it, at once.
///
/// `@unchecked Sendable`: the count is guarded by `lock`.
final class Following: FilePresenter, @unchecked Sendable {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()
    private let isCoordinated: Bool
    private let last: Int
    private let lock = NSLock()
    private var count = 0
    private var stale = 0

    init(_ url: URL, isCoordinated: Bool, last: Int) {
        presentedItemURL = url
        self.isCoordinated = isCoordinated
        self.last = last
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
    }

    func presentedItemDidChange() {
        guard let url = presentedItemURL else { return }
        do {
            if isCoordinated {
                try FileCoordinator(filePresenter: self).coordinate(readingItemAt: url) { try look(at: $0) }
            } else {
                try look(at: url)
            }
        } catch {
            Output.line("failed", Output.describe(error))
        }
    }

    private func look(at url: URL) throws {
        // By its name first, which an app may have looked at before.
        let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int
        let text = try String(contentsOf: url, encoding: .utf8)
        let isOver = lock.withLock { () -> Bool in
            count += 1
            let isOld = (Int(text) ?? 0) < count || isCoordinated && size != text.utf8.count
            if isOld { stale += 1 }
            return Int(text) == last
        }
        if isOver { Output.line("followed", "stale=\(stale)") }
    }
}
