import Glibc

/// A file descriptor that is closed when nobody uses it any more.
///
/// Threads that work with it hold a reference, so an evicted cache entry never closes a descriptor under somebody's hands.
final class Descriptor: Sendable {
    /// Open, and not closed by anybody else.
    let raw: CInt

    /// Takes ownership of `raw`.
    init(owning raw: CInt) { self.raw = raw }

    deinit { close(raw) }

    /// Where the kernel shows the file behind this descriptor: for calls that have no form with a descriptor.
    var proc: String { "/proc/self/fd/\(raw)" }

    /// Another of the same file, which does not count as a writer's; nil, with errno, where it cannot be opened so. Does not wait.
    func forReading() -> Descriptor? {
        let raw = open(proc, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        return raw < 0 ? nil : Descriptor(owning: raw)
    }
}
