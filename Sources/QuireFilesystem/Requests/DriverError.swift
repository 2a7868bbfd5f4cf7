import Glibc

/// A request that fails: what the program gets.
///
/// The only error inside the driver: a system call on the store failed, and its errno is the answer (design: the mount
/// passes what its backing file system passes).
struct DriverError: Error {
    let errno: CInt

    init(_ errno: CInt) { self.errno = errno }

    /// The errno of the call that just failed on this thread.
    static func last() -> DriverError { DriverError(Glibc.errno) }
}
