import Glibc

/// How long a reader looks for the next request before it sleeps, learned from how long requests kept it waiting.
///
/// Waking a sleeping core costs more than most requests, so looking pays while requests come one after the other, and is a
/// waste of the core when they don't. As KVM does for halted guests: a request that came within the longest window
/// doubles the window, one that came later halves it, down to none.
struct SpinWindow {
    /// Nanoseconds after an answer in which the reader does not sleep.
    private(set) var nanoseconds: Int
    private let longest: Int

    static let shortest = 10_000

    /// - Parameter longest: nanoseconds; 0 where there is one core only, which the program that waits needs.
    init(longest: Int = Self.longestHere) {
        self.longest = longest
        nanoseconds = min(2 * Self.shortest, longest)
    }

    /// The reader slept, and a request came `waited` nanoseconds after its last answer.
    mutating func slept(_ waited: Int) {
        if waited <= longest {
            nanoseconds = min(max(2 * nanoseconds, Self.shortest), longest)
        } else {
            nanoseconds = nanoseconds / 2 < Self.shortest ? 0 : nanoseconds / 2
        }
    }

    private static var longestHere: Int { sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 ? 200_000 : 0 }
}
