import Glibc

/// Why a drive cannot be mounted or unmounted.
package struct MountError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, closed.
    package enum Code: Sendable {
        /// FUSE is missing, forbidden, or refused.
        case unavailable
        /// Programs use the mount.
        case busy
    }

    package let code: Code
    /// Names the item and the reason.
    package let message: String
    package let remedy: String?

    package init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }

    init(storeUnreadable path: String, errno: CInt) {
        self.init(.unavailable, "the store \(path) cannot be opened: \(String(cString: strerror(errno)))")
    }

    init(mountFailed mountpoint: String, errno: CInt) {
        let reason = errno > 1 ? ": \(String(cString: strerror(errno)))" : ""
        self.init(
            .unavailable, "\(mountpoint) cannot be mounted\(reason)",
            remedy: geteuid() == 0
                ? "What libfuse said is in the daemon's log." : "What fusermount3 said is in the daemon's log.")
    }

    package var description: String { remedy.map { "\(message). \($0)" } ?? message }
}
