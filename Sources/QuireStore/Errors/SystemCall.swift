import Glibc
package import QuireCore

/// Runs a system call that answers -1 on error, again when a signal interrupted it.
///
/// - Returns: the call's result, 0 or more.
/// - Throws: `StoreError` with the call's errno. `item` is asked only then.
@discardableResult
func systemCall<Result: FixedWidthInteger & SignedInteger>(
    _ operation: String, _ item: @autoclosure () -> String, _ body: () -> Result
) throws(StoreError) -> Result {
    while true {
        let result = body()
        if result >= 0 { return result }
        let code = errno
        if code != EINTR { throw StoreError(errno: code, operation, item()) }
    }
}

extension FileName {
    /// Hands the name to `body` as a C string that lives for the call.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result { cString(bytes, body) }
}

/// Hands `bytes` to `body` with a terminating NUL; the pointer lives for the call.
func cString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (bytes + [0]).withUnsafeBytes { buffer in
        // A buffer of at least one byte has a base address.
        guard let base = buffer.baseAddress else { return "".withCString(body) }
        return body(base.assumingMemoryBound(to: CChar.self))
    }
}

/// The kernel's wall clock, which file times are taken from.
package enum WallClock {
    /// Now, to the nanosecond. File times lag behind it by up to one tick.
    package static func now() -> FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}

extension FileTime {
    /// For `utimensat` and `futimens`.
    var timespec: Glibc.timespec { Glibc.timespec(tv_sec: seconds, tv_nsec: subsecondNanoseconds) }
}
