/// What a provider throws.
public struct ProviderError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, closed so that callers in this package switch exhaustively.
    package enum Code: String, Sendable, CaseIterable {
        /// The precondition did not hold; nothing was changed.
        case conditionFailed
        case notFound
        case parentMissing
        case notEmpty
        /// The storage is missing, unreachable, or another one than it was.
        case unavailable
        case permissionDenied
        case noSpace
        /// The provider cannot hold this name; parked, not retried until renamed.
        case invalidName
        case unsupported
        /// What arrived is not what was sent.
        case corrupt
        case cancelled
        /// Any other failure of the storage; retried.
        case failed
    }

    package let code: Code
    /// Names the item, the reason and the remedy.
    public let message: String
    /// The error beneath, as text.
    public let cause: String?
    /// Another store was found than the one that was expected, or none: it may have been begun anew there.
    package let isOtherStore: Bool
    /// The server does not take the secret that Quire keeps for it: its user may give another.
    package let isSecretRefused: Bool
    /// Content was taken, and something else is in its place right after: another writer's, or what the storage made of it.
    package let isTaken: Bool

    package init(
        _ code: Code, _ message: String, cause: String? = nil, isOtherStore: Bool = false,
        isSecretRefused: Bool = false, isTaken: Bool = false
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.isOtherStore = isOtherStore
        self.isSecretRefused = isSecretRefused
        self.isTaken = isTaken
    }

    /// Whether trying again later may succeed without anybody's doing.
    public var isRetryable: Bool {
        switch code {
        case .unavailable, .noSpace, .failed, .corrupt, .permissionDenied: true
        case .conditionFailed, .notFound, .parentMissing, .notEmpty, .invalidName, .unsupported, .cancelled: false
        }
    }

    /// Message and cause, as logged.
    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
