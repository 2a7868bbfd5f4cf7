import CLinux
import Glibc
import QuireCore
import Synchronization

/// Files into which programs may still write by a mapping, though no handle is open: where the kernel reads and writes by
/// itself, it closes a handle whatever is mapped through it, and tells of no store and of no end.
///
///     open, mmap, close ──▶ watched ──somebody can write──▶ lingering: counts as open for writing
///                              │ nobody can                    │ nobody can any more
///                              ▼                               ▼
///                   over, told where it changed       over, told in any case
///
/// Whether somebody can write is asked of the file (`fcntl(2)`, F_SETLEASE), again and again: nothing tells of the end. All
/// methods may be called from any thread.
final class LingeringMappings: Sendable {
    /// A file that was written by a handle which could map it.
    struct Mapped: Sendable {
        let inode: UInt64
        /// Open for reading: whoever holds one for writing would be found himself.
        let descriptor: Descriptor
        /// What was told of it when it was closed.
        let closed: Fingerprint

        /// Nil where it cannot be opened for reading.
        init?(_ file: OpenFile, told closed: Fingerprint) {
            guard let descriptor = file.descriptor.forReading() else { return nil }
            inode = file.node.inode
            self.closed = closed
            self.descriptor = descriptor
        }

        /// Whether somebody has it open or mapped for writing. To be asked while nobody opens it: who does without waiting is
        /// refused for that moment.
        var mayBeWritten: Bool { quire_has_writers(descriptor.raw) == 1 }
    }

    /// What a look at a file comes to.
    enum Verdict: Equatable {
        /// It is to be told where it is other than what was told.
        case told(Fingerprint)
        /// It is to be told: a store into a page that is dirty already leaves no trace in the times.
        case changed
    }

    private struct Watch {
        let file: Mapped
        var start = ContinuousClock.now
        var isLingering = false
        var told: Fingerprint
    }

    private struct State {
        var watches: [UInt64: Watch] = [:]
        var isLooking = false
        /// In microseconds.
        var pause: UInt32 = 0
    }

    /// Innermost lock, also inside the table's: descriptors are closed outside.
    private let state = Lock(State())
    private let count = Atomic<Int>(0)
    private let pool = BackgroundPool(label: "quire-mappings", width: 1)
    private let limit: Int

    /// The kernel itself ends a handle a moment after it has said so.
    private static let grace = Duration.milliseconds(20)
    /// In microseconds.
    private static let (shortestPause, longestPause): (UInt32, UInt32) = (2000, 200_000)

    /// - Parameter limit: so many files are watched; of more it is not known.
    init(limit: Int) { self.limit = limit }

    /// Whether a file counts as open for writing. One relaxed atomic load where none is watched.
    func contains(_ inode: UInt64) -> Bool { watch(inode)?.isLingering ?? false }

    /// Whether its times may change without a word. As quick as `contains`.
    func mayChange(_ inode: UInt64) -> Bool { watch(inode) != nil }

    private func watch(_ inode: UInt64) -> Watch? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        return state.withLock { $0.watches[inode] }
    }

    /// All that are watched.
    var files: [Mapped] {
        guard count.load(ordering: .relaxed) > 0 else { return [] }
        return state.withLock { $0.watches.values.map(\.file) }
    }

    /// Watches a file, or goes on watching it.
    ///
    /// - Parameter look: looks at all `files`; called on a thread of its own as long as there are any, or until it says false.
    /// - Returns: false where there are too many.
    func watch(_ file: Mapped, look: @escaping @Sendable () -> Bool) -> Bool {
        let (isWatched, starts) = state.withLock { state -> (Bool, Bool) in
            if state.watches[file.inode] != nil {
                state.watches[file.inode]?.told = file.closed
                state.watches[file.inode]?.start = ContinuousClock.now
            } else {
                guard state.watches.count < limit else { return (false, false) }
                state.watches[file.inode] = Watch(file: file, told: file.closed)
                count.add(1, ordering: .relaxed)
            }
            state.pause = Self.shortestPause
            defer { state.isLooking = true }
            return (true, !state.isLooking)
        }
        if starts {
            pool.submit {
                while let pause = self.nextPause() {
                    usleep(pause)
                    guard look() else { return }
                }
            }
        }
        return isWatched
    }

    /// Nil where nothing is watched any more.
    private func nextPause() -> UInt32? {
        state.withLock { state in
            state.isLooking = !state.watches.isEmpty
            defer { state.pause = min(2 * state.pause, Self.longestPause) }
            return state.isLooking ? state.pause : nil
        }
    }

    /// Notes what a look at a file found.
    ///
    /// - Returns: what is to be told; nil where it is not watched any more.
    func note(_ file: Mapped, mayBeWritten: Bool) -> Verdict? {
        state.withLock { state in
            guard let watch = state.watches[file.inode], watch.file.descriptor === file.descriptor else { return nil }
            switch mayBeWritten {
            case true where !watch.isLingering && ContinuousClock.now - watch.start >= Self.grace:
                state.watches[file.inode]?.isLingering = true
                return .changed
            case false:
                // Whoever calls has the descriptor: it is not closed here.
                state.watches[file.inode] = nil
                count.subtract(1, ordering: .relaxed)
                return watch.isLingering ? .changed : .told(watch.told)
            case true: return .told(watch.told)
            }
        }
    }

    /// Notes what was told of a file.
    func noteTold(_ fingerprint: Fingerprint, of file: Mapped) {
        state.withLock { $0.watches[file.inode]?.told = fingerprint }
    }
}
