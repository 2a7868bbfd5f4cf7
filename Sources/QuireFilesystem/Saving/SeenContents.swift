import CFuse
import Glibc
import QuireCore
import Synchronization

/// Which content of which document programs have seen that do not coordinate, and which documents were changed by those who
/// do: apps, and other devices.
///
///     vim reads v1 ──────────────────────────────▶ puts a new file in the place of v2: it has missed v2
///                    an app writes v2, or it arrives
///
/// Remembers the last few thousand looks and changes. All methods may be called from any thread.
final class SeenContents: Sendable {
    /// A name in a directory: what a program means by a document, whichever file is there.
    struct Place: Hashable, Sendable {
        private let hash: Int

        init(_ directory: UInt64, _ name: FileName) {
            var hasher = Hasher()
            hasher.combine(directory)
            hasher.combine(name)
            hash = hasher.finalize()
        }
    }

    /// By what content is known again.
    private struct Content: Equatable {
        let inode: UInt64
        let changed: Int64

        init(_ status: stat) {
            inode = status.inode
            changed = FileTime(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec).nanoseconds
        }
    }

    private struct Sight {
        /// Nil for a file that had no name any more.
        let place: Place?
        let thread: pid_t
        let content: Content
        let order: UInt64

        /// Whether it is of the document at a place: another device's version is another file, a renamed document had
        /// another place.
        func isOf(_ place: Place, _ inode: UInt64) -> Bool { self.place == place || content.inode == inode }
    }

    private struct State {
        var order: UInt64 = 0
        /// The newest replaces the oldest.
        var sights: [Sight] = []
        var next = 0
        /// When a document was last changed by somebody who coordinates.
        var changes: [Place: UInt64] = [:]

        mutating func takeOrder() -> UInt64 {
            order += 1
            return order
        }
    }

    private static let limit = 8192
    private let started = Atomic<Bool>(false)
    // Taken alone; no system call inside.
    private let state = Lock(State())

    /// Whether anybody has coordinated so far. One relaxed atomic load.
    var isInUse: Bool { started.load(ordering: .relaxed) }

    /// Somebody takes part who coordinates.
    func begin() {
        if !isInUse { started.store(true, ordering: .relaxed) }
    }

    /// An app or another device changes the document, or is about to.
    func noteChange(at place: Place) {
        begin()
        state.withLock { state in
            state.changes[place] = state.takeOrder()
            guard state.changes.count > Self.limit else { return }
            let middle = state.order - UInt64(Self.limit / 2)
            state.changes = state.changes.filter { $0.value > middle }
        }
    }

    /// A program's thread looks at the content of `status`, or has written it.
    func noteSight(of place: Place?, _ status: stat, by thread: pid_t) {
        state.withLock { state in
            let sight = Sight(place: place, thread: thread, content: Content(status), order: state.takeOrder())
            if state.sights.count < Self.limit {
                state.sights.append(sight)
            } else {
                state.sights[state.next] = sight
                state.next = (state.next + 1) % Self.limit
            }
        }
    }

    /// Whether a program has seen an earlier content of the document, and not the one of `status`, which is by somebody who
    /// coordinates.
    ///
    /// - Parameter isOwn: whether a thread is one of the program's. Makes system calls.
    func hasMissed(_ status: stat, at place: Place, isOwn: (pid_t) -> Bool) -> Bool {
        guard isInUse else { return false }
        let (changed, sights) = state.withLock { state -> (UInt64, [Sight]) in
            guard let changed = state.changes[place] else { return (0, []) }
            return (changed, state.sights.filter { $0.isOf(place, status.inode) })
        }
        guard let last = sights.sorted(by: { $0.order > $1.order }).first(where: { isOwn($0.thread) }) else {
            return false
        }
        return last.order < changed && last.content != Content(status)
    }
}
