import CFuse
import Glibc
import QuireCore
import Synchronization

/// Whether the store's file system is short of room, so that writes must not be collected: a program is to hear at write(2)
/// that there is none.
final class StoreSpace: Sendable {
    /// `CLOCK_MONOTONIC` in nanoseconds.
    private let nextLook = Atomic<Int>(0)
    private let shortUntil = Atomic<Int>(0)

    /// Far more than a kernel collects for one mount (a hundredth of what it may hold dirty altogether).
    static let plenty: UInt64 = 1 << 30
    /// How long what was seen counts.
    private static let looksApart = 100_000_000
    /// How long a refused write counts: statfs does not tell of a user's quota.
    private static let refusalCounts = 60_000_000_000

    /// - Parameters:
    ///   - root: a descriptor on that file system.
    ///   - now: of `MonotonicClock`.
    func isShort(_ root: Descriptor, at now: Int) -> Bool {
        if now >= nextLook.load(ordering: .relaxed) {
            nextLook.store(now + Self.looksApart, ordering: .relaxed)
            var space = statvfs()
            if fstatvfs(root.raw, &space) != 0 || UInt64(space.f_bavail) * UInt64(space.f_frsize) < Self.plenty {
                shortUntil.max(now + Self.looksApart, ordering: .relaxed)
            }
        }
        return now < shortUntil.load(ordering: .relaxed)
    }

    /// A write failed with `code`.
    func refused(_ code: CInt, at now: Int) {
        guard code == ENOSPC || code == EDQUOT else { return }
        shortUntil.max(now + Self.refusalCounts, ordering: .relaxed)
    }
}
