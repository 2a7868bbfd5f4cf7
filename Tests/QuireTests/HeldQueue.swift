import Foundation

/// A queue that is suspended at first, and says when something is added to it.
///
/// `@unchecked Sendable`: as its superclass; what it adds never changes.
final class HeldQueue: OperationQueue, @unchecked Sendable {
    private let operationsAdded = AsyncStream.makeStream(of: Void.self)

    override init() {
        super.init()
        isSuspended = true
    }

    override func addOperation(_ operation: Operation) {
        super.addOperation(operation)
        operationsAdded.continuation.yield()
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) { addOperation(BlockOperation(block: block)) }

    /// Returns when one more operation is in the queue.
    func added() async { for await _ in operationsAdded.stream { return } }
}
