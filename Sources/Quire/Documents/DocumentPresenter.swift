import Foundation
import QuireCore
import Synchronization

/// What an open document is for the drive. Questions go to the document at once; what it is told goes there in order.
///
/// The registration keeps this object, not the document: one that is dropped unclosed ends.
final class DocumentPresenter: FilePresenter {
    /// What the document is told, one after the other.
    enum Message: Sendable {
        case changed
        case moved(URL)
        case reacquired
        case versionsChanged
    }

    private struct State {
        weak var document: Document?
        var url: URL?
    }

    let presentedItemOperationQueue: OperationQueue
    let messages: AsyncStream<Message>
    private let message: AsyncStream<Message>.Continuation
    // Taken alone.
    private let state: Lock<State>

    init(_ document: Document, at url: URL) {
        presentedItemOperationQueue = OperationQueue()
        presentedItemOperationQueue.maxConcurrentOperationCount = 1
        (messages, message) = AsyncStream.makeStream(of: Message.self)
        state = Lock(State(document: document, url: url))
    }

    var presentedItemURL: URL? { state.withLock { $0.url } }

    private var document: Document? { state.withLock { $0.document } }

    /// Nothing is told any more.
    func finish() { message.finish() }

    // MARK: Questions

    func relinquishPresentedItem(
        toWriter writer: @escaping @Sendable (_ reacquirer: (@Sendable () -> Void)?) -> Void
    ) {
        // A callback is the border at which asynchronous work begins. It keeps the purpose of the presenter that is asked.
        Task { [message] in
            await document?.relinquishToWriter()
            writer { message.yield(.reacquired) }
        }
    }

    func savePresentedItemChanges() async throws { try await document?.saveBecauseAsked() }

    func accommodatePresentedItemDeletion() async throws { try await document?.accommodateDeletion() }

    // MARK: What is told

    func presentedItemDidMove(to newURL: URL) {
        state.withLock { $0.url = newURL }
        message.yield(.moved(newURL))
    }

    func presentedItemDidChange() { message.yield(.changed) }

    func presentedItemDidGain(_ version: FileVersion) { message.yield(.versionsChanged) }

    func presentedItemDidLose(_ version: FileVersion) { message.yield(.versionsChanged) }

    func presentedItemDidResolveConflict(_ version: FileVersion) { message.yield(.versionsChanged) }
}
