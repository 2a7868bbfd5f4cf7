import Glibc

/// Time that does not go back: nanoseconds since the machine's start, suspension left out.
package enum MonotonicClock {
    package static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
