import Glibc

/// What the store throws: a system call on it failed, or what is there is not fit for what was asked.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong; closed, so that callers switch exhaustively.
    package enum Code: String, Sendable, CaseIterable {
        /// Nothing is at that path, or a name on the way to it is no directory (links are not followed).
        case notFound
        case alreadyExists
        /// Another kind of item is there than the operation works on.
        case wrongKind
        case notEmpty
        case permissionDenied
        /// ENOSPC or EDQUOT.
        case noSpace
        /// The file was written to less than two clock ticks ago: its fingerprint proves nothing. Try again in 20 ms or
        /// more.
        case tooFresh
        /// The file changed while it was read. Try again later.
        case changed
        /// The file is a placeholder: its content is not here, its zeros are not content.
        case dataless
        /// The caller asked to stop.
        case cancelled
        /// Another daemon has this home.
        case homeInUse
        /// The filesystem cannot hold a store.
        case unsuitableFilesystem
        /// Any other failure of a system call.
        case failed
    }

    package let code: Code
    /// Of the system call that failed; nil where none did.
    package let errno: Int32?
    /// Names the item and the reason.
    package let message: String
    /// What to do about it.
    package let remedy: String?

    package init(_ code: Code, _ message: String, errno: Int32? = nil, remedy: String? = nil) {
        self.code = code
        self.errno = errno
        self.message = message
        self.remedy = remedy
    }

    /// A system call failed: its errno decides the code and the remedy.
    ///
    /// - Parameters:
    ///   - item: path for people.
    ///   - operation: as in "cannot `operation` `item`".
    package init(errno: Int32, _ operation: String, _ item: String) {
        let reason = String(cString: strerror(errno))
        let (code, remedy) = Self.classify(errno)
        self.init(code, "cannot \(operation) \(item): \(reason)", errno: errno, remedy: remedy)
    }

    /// Whether trying again soon may succeed without anybody's doing.
    package var isRetryable: Bool {
        switch code {
        case .tooFresh, .changed: true
        case .notFound, .alreadyExists, .wrongKind, .notEmpty, .permissionDenied, .noSpace, .dataless, .cancelled,
            .homeInUse, .unsuitableFilesystem, .failed:
            false
        }
    }

    package var description: String { remedy.map { "\(message). \($0)" } ?? message }

    private static func classify(_ errno: Int32) -> (Code, remedy: String?) {
        switch errno {
        case ENOENT, ENOTDIR, ELOOP: (.notFound, nil)
        case EEXIST: (.alreadyExists, nil)
        case EISDIR: (.wrongKind, nil)
        case ENOTEMPTY: (.notEmpty, nil)
        case EACCES, EPERM, EROFS: (.permissionDenied, "Check the owner and the mode of the file and its directory")
        case ENOSPC: (.noSpace, "Free some space on the disk that holds the drive's home")
        case EDQUOT: (.noSpace, "Free some of your disk quota")
        case EMFILE, ENFILE: (.failed, "Raise the limit of open files (ulimit -n)")
        default: (.failed, nil)
        }
    }
}
