import Glibc
import QuireCore
import Synchronization

/// How many of the daemon's descriptors programs may hold by what they have open.
///
/// Each open file costs the daemon one, one that arrives as it is read three; an open directory costs it none. The rest
/// is its own: the caches of directories, the index, the control socket, transfers. Many programs at once wait for each
/// other's handles for a moment; a program that opens without end gets ENFILE; all others, and the daemon, go on.
final class HandleBudget: Sendable {
    /// Most handles at one time.
    let limit: Int
    /// Of the rest, what is nobody's own.
    let reserve: Int
    private let handles = Atomic<Int>(0)
    private let waiting = Atomic<Int>(0)
    private let waitedInVain = Atomic<Bool>(false)
    /// For those who wait.
    private let monitor = ThreadMonitor()

    private static let longestWait = 1_000

    /// - Parameters:
    ///   - descriptors: how many the process may have.
    ///   - cache: how many of them the cache of directories may take.
    init(descriptors: Int, cache: Int) {
        reserve = min(max(descriptors / 8, 48), 1200)
        limit = max(descriptors - cache - Listings.limit - reserve, 16)
    }

    /// Whether one more may be opened. A few more than the limit get through when several ask at once; the reserve is for
    /// them, too.
    ///
    /// - Throws: ENFILE.
    func admit() throws(DriverError) {
        guard handles.load(ordering: .relaxed) < limit else { throw DriverError(ENFILE) }
    }

    /// A handle was opened.
    ///
    /// - Parameter count: of the descriptors that it may take.
    func take(_ count: Int = 1) { handles.add(count, ordering: .relaxed) }

    /// A handle's descriptors were closed.
    func giveBack(_ count: Int = 1) {
        handles.subtract(count, ordering: .sequentiallyConsistent)
        if waitedInVain.load(ordering: .relaxed) { waitedInVain.store(false, ordering: .relaxed) }
        // Who waits counts itself before it looks at the handles: one of the two sees the other.
        guard waiting.load(ordering: .sequentiallyConsistent) > 0 else { return }
        monitor.locked { for _ in 0..<count { monitor.signal() } }
    }

    /// Whether there is none left, but one may soon be given back: none of those who waited before did so in vain.
    var isWorthWaiting: Bool {
        handles.load(ordering: .relaxed) >= limit && !waitedInVain.load(ordering: .relaxed)
    }

    /// Blocks until there is one left, for a second at most.
    func waitForOne() {
        waiting.add(1, ordering: .sequentiallyConsistent)
        defer { waiting.subtract(1, ordering: .relaxed) }
        let deadline = ThreadMonitor.deadline(milliseconds: Self.longestWait)
        monitor.locked {
            while handles.load(ordering: .sequentiallyConsistent) >= limit {
                guard monitor.wait(until: deadline) else { return waitedInVain.store(true, ordering: .relaxed) }
            }
        }
    }
}
