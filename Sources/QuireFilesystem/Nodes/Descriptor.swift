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
}
