import Glibc
import Synchronization

/// How many of the daemon's descriptors programs may hold by what they have open.
///
/// Each open file and directory costs the daemon one. The rest is its own: the cache of directories, the index, the control
/// socket, transfers. A program that opens without end gets ENFILE; all others, and the daemon, go on.
final class HandleBudget: Sendable {
    /// Most handles at one time for files; a part of the whole is left for directories, so that listing goes on longest.
    let fileLimit: Int
    let directoryLimit: Int
    private let handles = Atomic<Int>(0)

    /// - Parameters:
    ///   - descriptors: how many the process may have.
    ///   - cache: how many of them the cache of directories may take.
    init(descriptors: Int, cache: Int) {
        let reserve = min(max(descriptors / 8, 48), 1200)
        directoryLimit = max(descriptors - cache - reserve, 16)
        fileLimit = max(directoryLimit - directoryLimit / 10, 8)
    }

    /// Whether one more may be opened. A few more than the limit get through when several ask at once; the reserve is for
    /// them, too.
    ///
    /// - Throws: ENFILE.
    func admitFile() throws(DriverError) {
        guard handles.load(ordering: .relaxed) < fileLimit else { throw DriverError(ENFILE) }
    }

    /// As `admitFile`, for a directory.
    func admitDirectory() throws(DriverError) {
        guard handles.load(ordering: .relaxed) < directoryLimit else { throw DriverError(ENFILE) }
    }

    /// A handle was opened.
    func take() { handles.add(1, ordering: .relaxed) }

    /// A handle's descriptor was closed.
    func giveBack() { handles.subtract(1, ordering: .relaxed) }
}
