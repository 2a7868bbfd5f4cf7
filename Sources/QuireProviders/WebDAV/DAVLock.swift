import QuireCore

/// A lock that a server has granted (RFC 4918 §6).
struct DAVLock: Sendable {
    /// How long it lasts where nobody renews it, after a crash.
    static let seconds = 60
    /// How often one is renewed; several times before it would end.
    static let renewal = Duration.seconds(15)
    /// How long another's lock is waited for.
    static let patience = Duration.seconds(20)

    let path: RelativePath
    var isDirectory = false
    let token: String
}
