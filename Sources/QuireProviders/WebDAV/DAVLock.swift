import QuireCore

/// A lock that a server has granted (RFC 4918 §6).
struct DAVLock: Sendable {
    /// How long it lasts where nobody renews it, after a crash.
    static let seconds = 60
    /// How long another's lock is waited for.
    static let patience = Duration.seconds(20)

    let path: RelativePath
    var isDirectory = false
    let token: String
    /// What the server was asked to remember with it: a random number, fresh for each lock.
    let owner: String
    /// Before then it was not there: when it was asked for.
    var since = ContinuousClock.now

    /// An owner for a lock that is about to be asked for.
    static func freshOwner() -> String { "quire \(UInt64.random(in: 0 ... .max))" }

    /// Whether a lock that the server tells of is this one: by its token, or by its owner where the server keeps
    /// tokens to itself.
    func matches(_ told: DAVResource.KnownLock) -> Bool {
        told.token.isEmpty ? told.owner == owner : told.token == token
    }

    /// Whether this is the only one of those that a server tells of.
    func isAlone(in told: [DAVResource.KnownLock]) -> Bool { told.count == 1 && told.allSatisfy(matches) }
}
