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
///                             over                            changed: looked at once more
///
/// Whether somebody can write is asked of the file (`fcntl(2)`, F_SETLEASE), again and again: nothing tells of the end. All
/// methods may be called from any thread.
final class LingeringMappings: Sendable {
    /// A file that was written by a handle which could map it.
    struct Mapped: Sendable {
        let inode: UInt64
        /// Open for reading: whoever holds one for writing would be found himself.
        let descriptor: Descriptor
        /// As it was when it was closed.
        let closed: Fingerprint

        /// Nil where it cannot be opened for reading.
        init?(_ file: OpenFile, _ status: FileStatus) {
            let raw = open(file.descriptor.proc, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard raw >= 0 else { return nil }
            inode = status.inode
            closed = status.fingerprint
            descriptor = Descriptor(owning: raw)
        }

        /// Whether somebody has it open or mapped for writing. To be asked while nobody opens it: who does without waiting is
        /// refused for that moment.
        var mayBeWritten: Bool { quire_has_writers(descriptor.raw) == 1 }
    }

    private struct Watch {
        let file: Mapped
        let start = ContinuousClock.now
        var isLingering = false
        /// What was told of it last.
        var told: Fingerprint

        init(_ file: Mapped) {
            self.file = file
            told = file.closed
        }
    }

    private struct State {
        var watches: [UInt64: Watch] = [:]
        var isLooking = false
    }

    /// Innermost lock: descriptors are closed outside.
    private let state = Lock(State())
    private let lingering = Atomic<Int>(0)
    private let pool = BackgroundPool(label: "quire-mappings", width: 1)

    /// So many files may be watched; of more it is not known.
    private static let limit = 1024
    /// The kernel itself ends a handle a moment after it has said so.
    private static let grace = Duration.milliseconds(20)
    /// In microseconds.
    private static let (shortestPause, longestPause): (UInt32, UInt32) = (2000, 200_000)

    /// Whether a file counts as open for writing. One relaxed atomic load where there is none.
    func contains(_ inode: UInt64) -> Bool {
        guard lingering.load(ordering: .relaxed) > 0 else { return false }
        return state.withLock { $0.watches[inode]?.isLingering ?? false }
    }

    /// Notes what is told of a file.
    ///
    /// - Returns: whether that is other than what was told last, or it is watched no more.
    func note(_ fingerprint: Fingerprint, of inode: UInt64) -> Bool {
        state.withLock { state in
            let former = state.watches[inode]?.told
            state.watches[inode]?.told = fingerprint
            return former != fingerprint
        }
    }

    /// All that are watched.
    var files: [Mapped] { state.withLock { $0.watches.values.map(\.file) } }

    /// Watches a file.
    ///
    /// - Parameter look: looks at all that are watched, by `look(_:)`; called on a thread of its own, time and again, until it
    ///   says that there is none, or nil.
    func watch(_ file: Mapped, look: @escaping @Sendable () -> Bool?) {
        // The one that is watched already outlives the lock.
        let (starts, former) = state.withLock { state -> (Bool, Watch?) in
            let former = state.watches[file.inode]
            guard former == nil, state.watches.count < Self.limit else { return (false, former) }
            state.watches[file.inode] = Watch(file)
            defer { state.isLooking = true }
            return (!state.isLooking, nil)
        }
        withExtendedLifetime(former) {}
        guard starts else { return }
        pool.submit {
            var pause = Self.shortestPause
            repeat {
                usleep(pause)
                pause = min(2 * pause, Self.longestPause)
            } while look() ?? false
        }
    }

    /// What became of a file.
    enum Turn: Sendable {
        /// It lingers from now on.
        case began(Mapped)
        /// It lingered.
        case ended(Mapped)
    }

    /// Looks at all that are watched.
    ///
    /// - Parameter probe: whether the file may be written, nil where it has a handle for that again: whoever closes that one
    ///   has it watched anew.
    /// - Returns: what is to be told, and whether there is more to watch.
    func look(_ probe: (Mapped) -> Bool?) -> (turns: [Turn], goesOn: Bool) {
        let watches = state.withLock { Array($0.watches.values) }
        var turns: [Turn] = []
        var over: [Watch] = []
        for watch in watches {
            switch probe(watch.file) {
            case true?:
                guard !watch.isLingering, ContinuousClock.now - watch.start >= Self.grace else { continue }
                state.withLock { $0.watches[watch.file.inode]?.isLingering = true }
                lingering.add(1, ordering: .relaxed)
                turns.append(.began(watch.file))
            case false?:
                over.append(watch)
                if watch.isLingering { turns.append(.ended(watch.file)) }
            case nil: over.append(watch)
            }
        }
        let goesOn = state.withLock { state in
            for watch in over { state.watches[watch.file.inode] = nil }
            state.isLooking = !state.watches.isEmpty
            return state.isLooking
        }
        lingering.subtract(over.count { $0.isLingering }, ordering: .relaxed)
        return (turns, goesOn)
    }
}
