import Foundation
import QuireCore
import Synchronization

/// A presenter while it is registered: its number at the daemon, and the callbacks that wait in its queue.
final class PresenterEntry: Sendable {
    private struct State {
        /// Its id at the daemon, while connected.
        var number: UInt64?
        /// How many connections have ended.
        var connectionsEnded: UInt64 = 0
        /// Where the daemon believes the item is.
        var url: URL?
        /// The drive, once it is on one.
        var drive: Drive?
        var isRemoved = false
        /// What runs when an access ends, by the question that asked to relinquish.
        var reacquirers: [UInt64: @Sendable () -> Void] = [:]
        /// The newest operation: the next starts after it, whatever queue they are in.
        var last: Operation?
    }

    let presenter: any FilePresenter
    /// What all coordinators made with this presenter have in common.
    let purpose: String
    // Taken alone; the presenter is called outside.
    private let state = Lock(State())

    init(_ presenter: any FilePresenter) {
        self.presenter = presenter
        self.purpose = Self.purpose(of: presenter)
    }

    private static let process = UUID().uuidString

    /// The same for one object as long as it lives, in this process alone.
    static func purpose(of presenter: any FilePresenter) -> String {
        let address = UInt(bitPattern: Unmanaged.passUnretained(presenter as AnyObject).toOpaque())
        return "quire.presenter.\(process).\(String(address, radix: 16))"
    }

    /// Its id at the daemon; nil while it is not connected.
    var number: UInt64? {
        get { state.withLock { $0.number } }
        set { state.withLock { $0.number = newValue } }
    }

    /// Which connection it is registered over, or about to be: another number after that one's end.
    var connection: UInt64 { state.withLock { $0.connectionsEnded } }

    /// Whether `remove` was called.
    var isRemoved: Bool { state.withLock { $0.isRemoved } }

    /// The drive that it is registered with.
    var drive: Drive? { state.withLock { $0.drive } }

    /// Where the daemon believes the item is.
    var knownURL: URL? { state.withLock { $0.url } }

    /// Remembers where the item is.
    func place(at url: URL?, on drive: Drive?) {
        state.withLock { state in
            state.url = url
            state.drive = drive
        }
    }

    /// The item's path on a mount, for a new registration: what the presenter says now.
    func location(on mount: MountPath) -> RelativePath? {
        guard let url = presenter.presentedItemURL ?? knownURL, let text = try? ItemLocation.path(of: url) else {
            return nil
        }
        return MountPath(realPath(text) ?? text).path.removing(ancestor: mount.path)
    }

    /// No callback runs from now on.
    func remove() {
        state.withLock { state in
            state.isRemoved = true
            state.reacquirers = [:]
            // An operation keeps what it calls.
            state.last = nil
        }
    }

    // MARK: Callbacks

    /// Runs `body` on the presenter's queue after all that was enqueued before.
    ///
    /// - Returns: false where the presenter is not registered any more: `body` will not run.
    @discardableResult
    func enqueue(_ body: @escaping @Sendable (any FilePresenter) -> Void) -> Bool {
        let queue = presenter.presentedItemOperationQueue
        let callback = QueuedCallback(body)
        let operation = BlockOperation { [self] in
            // Removed meanwhile: what body captured is dropped, and answers by that.
            if let body = callback.take(), !state.withLock({ $0.isRemoved }) { body(presenter) }
        }
        // Cancelled in the queue: the same.
        operation.completionBlock = { _ = callback.take() }
        let isAdded = state.withLock { state in
            guard !state.isRemoved else { return false }
            if let last = state.last, !last.isFinished { operation.addDependency(last) }
            state.last = operation
            // Inside the lock, so that the queue sees operations in their order.
            queue.addOperation(operation)
            return true
        }
        return isAdded
    }

    /// Keeps what is to run when the access that `question` was about ends; it has where `connection`, by which that was asked, has.
    func keep(_ reacquirer: @escaping @Sendable () -> Void, for question: UInt64, of connection: UInt64) {
        let isOver = state.withLock { state in
            if state.connectionsEnded == connection { state.reacquirers[question] = reacquirer }
            return state.connectionsEnded != connection
        }
        if isOver { enqueue { _ in reacquirer() } }
    }

    /// The access is over.
    func reacquire(_ question: UInt64) {
        guard let reacquirer = state.withLock({ $0.reacquirers.removeValue(forKey: question) }) else { return }
        enqueue { _ in reacquirer() }
    }

    /// The item moved.
    func moved(to url: URL) {
        state.withLock { $0.url = url }
        enqueue { $0.presentedItemDidMove(to: url) }
    }

    /// The daemon is gone, and with it whatever access the presenter gave way to.
    ///
    /// - Parameter connection: the one that ended, see `connection`; nothing happens where that is known already.
    func connectionEnded(_ connection: UInt64) {
        let reacquirers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.connectionsEnded == connection else { return [] }
            state.number = nil
            state.connectionsEnded += 1
            defer { state.reacquirers = [:] }
            return state.reacquirers.sorted { $0.key < $1.key }.map(\.value)
        }
        for reacquirer in reacquirers { enqueue { _ in reacquirer() } }
    }

    /// It is registered again: nobody told it what happened in between.
    func missedChanges() { enqueue { $0.presentedItemDidChange() } }
}

/// What an operation does, kept no longer than until it is done: an operation that has finished keeps its block.
private final class QueuedCallback: Sendable {
    typealias Body = @Sendable (any FilePresenter) -> Void

    // Taken alone.
    private let body: Lock<Body?>

    init(_ body: @escaping Body) { self.body = Lock(body) }

    func take() -> Body? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}
