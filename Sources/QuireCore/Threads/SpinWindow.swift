import Glibc

/// How long a thread looks for the next request, or an answer, before it sleeps, learned from how long it was kept waiting.
///
/// Waking a sleeping core costs more than most requests, so looking pays while requests come one after the other, and is a
/// waste of the core when they don't. As KVM does for halted guests: a request that came within the longest window
/// doubles the window, one that came later halves it, down to none.
package struct SpinWindow: Sendable {
    /// Nanoseconds after an answer in which the thread does not sleep.
    package private(set) var nanoseconds: Int
    private let longest: Int

    static let shortest = 10_000
    /// What a reader of many requests allows itself.
    package static let longest = 200_000

    /// - Parameter longest: nanoseconds; 0 where there is one core only, which the program that waits needs.
    init(longest: Int) {
        self.longest = longest
        nanoseconds = min(2 * Self.shortest, longest)
    }

    /// For this machine: none where it has one core only, which whoever is waited for needs.
    ///
    /// - Parameter longest: nanoseconds.
    package init(atMost longest: Int = Self.longest) {
        self.init(longest: sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 ? longest : 0)
    }

    /// The thread slept, and was woken `waited` nanoseconds after its last answer, or after it asked.
    package mutating func slept(_ waited: Int) {
        if waited <= longest {
            nanoseconds = min(max(2 * nanoseconds, Self.shortest), longest)
        } else {
            nanoseconds = nanoseconds / 2 < Self.shortest ? 0 : nanoseconds / 2
        }
    }
}
