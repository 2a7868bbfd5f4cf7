import Glibc
import QuireCore
import QuireStore

/// Why a step did not happen, as what to do about it.
struct SyncFailure: Error, Sendable, Hashable {
    enum Remedy: Sendable, Hashable {
        /// The provider is not there: everything waits.
        case offline
        /// The provider has something else than expected: look at it and plan again.
        case look
        /// The item changed, or is in use: try again soon; nothing to tell anybody.
        case later
        /// Tell the user; try again with growing pauses.
        case park
        /// Tell the user; try again once the item has changed.
        case parkUntilChanged
        case cancelled
    }

    var remedy: Remedy
    /// Names the item, the reason and what to do.
    var message: String
    /// For programs that wait for content.
    var errno: Int32
    /// Trying again later may succeed without anybody's doing.
    var isPassing: Bool

    init(_ remedy: Remedy, _ message: String, errno: Int32 = EIO) {
        self.remedy = remedy
        self.message = message
        self.errno = errno
        isPassing =
            switch remedy {
            case .offline, .later, .cancelled: true
            // What is looked for and not there does not come by itself.
            case .look: errno != ENOENT
            case .park: errno == ETIMEDOUT
            case .parkUntilChanged: false
            }
    }

    init(_ error: ProviderError) {
        let message = error.description
        switch error.code {
        case .unavailable: self.init(.offline, message, errno: ENETUNREACH)
        case .conditionFailed, .parentMissing, .notEmpty: self.init(.look, message)
        case .notFound: self.init(.look, message, errno: ENOENT)
        case .invalidName, .unsupported: self.init(.parkUntilChanged, message)
        case .noSpace: self.init(.park, message, errno: ENOSPC)
        case .permissionDenied, .corrupt, .failed: self.init(.park, message)
        case .cancelled: self.init(.cancelled, message, errno: EINTR)
        }
        // As a server that is in trouble for a moment.
        if error.code == .failed { isPassing = true }
    }

    init(_ error: StoreError) {
        let errno = error.errno ?? EIO
        switch error.code {
        case .notFound, .wrongKind, .tooFresh, .changed, .alreadyExists, .notEmpty:
            self.init(.later, error.description, errno: errno)
        case .cancelled: self.init(.cancelled, error.description, errno: EINTR)
        case .permissionDenied, .noSpace, .dataless, .homeInUse, .unsuitableFilesystem, .failed:
            self.init(.park, error.description, errno: errno)
        }
    }

    /// A placeholder that stands for nothing: what it names was removed, or is where the drive was kept before.
    static func contentIsNowhere(_ path: RelativePath, _ container: SyncedContainer) -> SyncFailure {
        SyncFailure(
            .parkUntilChanged,
            "the content of \(path) is neither here nor at the provider \(container.providerName): restore it there, from where "
                + "it was kept before; remove it here only where nobody needs it")
    }

    init(_ error: LocalChangeError) {
        let reason = String(cString: strerror(error.errno))
        let message = "cannot \(error.operation) \(error.path): \(reason)"
        self.init(error.errno == ENOENT ? .later : .park, message, errno: error.errno)
    }
}

extension MaterializeError {
    init(_ failure: SyncFailure) {
        self.init(errno: failure.errno, message: failure.message, isPassing: failure.isPassing)
    }
}

extension QuireError {
    /// Content that cannot be brought here: the code and the remedy are those of what failed.
    init(_ failure: MaterializeError) {
        let message = failure.message
        switch failure.errno {
        case ENOSPC, EDQUOT:
            self.init(.failed, message, remedy: "Make room on this device, as with `quire evict`.")
        case ENETUNREACH, ETIMEDOUT:
            self.init(.temporary, message, remedy: "Try again when the provider can be reached.")
        case _ where failure.isPassing: self.init(.temporary, message, remedy: "Try again.")
        case ENOENT: self.init(.notFound, message, remedy: "See what became of it with `quire sync`.")
        case EACCES, EPERM: self.init(.notAllowed, message)
        default: self.init(.failed, message)
        }
    }

    init(_ failure: SyncFailure) { self.init(MaterializeError(failure)) }
}
