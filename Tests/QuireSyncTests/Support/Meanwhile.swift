import QuireCore
import QuireStore
import Synchronization
import Testing

/// What a program does in the middle of something else, once.
final class Meanwhile: Sendable {
    private let edit = Lock<(@Sendable () -> Void)?>(nil)

    /// Has `device` edited the next time, while whoever set it waits.
    func set(_ device: Device, _ body: @escaping @Sendable (Device) throws -> Void) {
        nonisolated(unsafe) let device = device
        edit.withLock { $0 = { #expect(throws: Never.self) { try body(device) } } }
    }

    @Sendable func happen() {
        let next = edit.withLock { edit in
            defer { edit = nil }
            return edit
        }
        next?()
    }
}

/// A committer that has something happen before each change.
final class WatchedCommitter: LocalTreeCommitter {
    private let committer: StoreCommitter
    private let before: Meanwhile

    init(_ committer: StoreCommitter, _ before: Meanwhile) {
        self.committer = committer
        self.before = before
    }

    func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult {
        before.happen()
        return try committer.commit(change)
    }

    func isOpenForWriting(inode: UInt64) -> Bool { committer.isOpenForWriting(inode: inode) }
    func changesVisible() async { await committer.changesVisible() }
    var isBusy: Bool { committer.isBusy }
}
