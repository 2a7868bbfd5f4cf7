import Foundation
import Quire

/// A presenter that prints what it is asked and told, and keeps a text that is saved when it is asked to.
///
/// `@unchecked Sendable`: all state is guarded by `lock`.
final class RecordingPresenter: FilePresenter, @unchecked Sendable {
    /// How questions are answered.
    enum Manner: String { case yielding, refusing, silent, other }

    let name: String
    let presentedItemOperationQueue = OperationQueue()
    private let lock = NSLock()
    private var url: URL?
    private var unsaved: String?
    private var manner = Manner.yielding

    init(name: String, url: URL?) {
        self.name = name
        self.url = url
        presentedItemOperationQueue.maxConcurrentOperationCount = 4
    }

    var presentedItemURL: URL? {
        get { lock.withLock { url } }
        set { lock.withLock { url = newValue } }
    }

    var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> {
        [.ubiquitousItemIsUploadedKey, .ubiquitousItemDownloadingStatusKey]
    }

    func edit(_ text: String) { lock.withLock { unsaved = text } }

    func answer(_ manner: Manner) { lock.withLock { self.manner = manner } }

    private func heard(_ callback: String, _ urls: URL...) {
        Output.line((["callback", name, callback] + urls.map(\.lastPathComponent)).joined(separator: " "))
    }

    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        heard("relinquishToReader")
        relinquish(reader)
    }

    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        heard("relinquishToWriter")
        relinquish(writer)
    }

    private func relinquish(_ answer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
        answer { [self] in heard("reacquire") }
    }

    func savePresentedItemChanges() async throws {
        heard("save")
        let (text, manner, url) = lock.withLock { (unsaved, self.manner, self.url) }
        switch manner {
        case .yielding: break
        case .refusing: throw CocoaError(.fileWriteOutOfSpace)
        case .silent: try await Task.sleep(for: .seconds(600))
        case .other:
            guard let url else { return }
            do {
                try await FileCoordinator().coordinate(writingItemAt: url) { _ in Output.line("nested", name) }
            } catch {
                Output.line("refused", name, Output.describe(error))
            }
        }
        guard let text, let url else { return }
        try await FileCoordinator(filePresenter: self).coordinate(writingItemAt: url) { url in
            try Data(text.utf8).write(to: url)
        }
        lock.withLock { unsaved = nil }
    }

    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        heard("accommodateDeletion")
        completionHandler(nil)
    }

    func accommodatePresentedSubitemDeletion(at url: URL) async throws { heard("accommodateSubitemDeletion", url) }

    func presentedItemDidMove(to newURL: URL) {
        presentedItemURL = newURL
        heard("didMove", newURL)
    }

    func presentedItemDidChange() { heard("didChange") }

    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {
        heard("didChangeUbiquityAttributes")
    }

    func presentedSubitemDidAppear(at url: URL) { heard("subitemDidAppear", url) }

    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) { heard("subitemDidMove", oldURL, newURL) }

    func presentedSubitemDidChange(at url: URL) { heard("subitemDidChange", url) }

    func presentedItemDidGain(_ version: FileVersion) {
        let content = version.url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? "none"
        Output.line("callback", name, "didGain", content.replacing("\n", with: "|"))
    }

    func presentedItemDidLose(_ version: FileVersion) { heard("didLose") }

    func presentedItemDidResolveConflict(_ version: FileVersion) {
        Output.line("callback", name, "didResolve", "\(version.isResolved)")
    }
}
