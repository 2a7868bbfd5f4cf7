/// The limits of the control socket (design, "Control socket").
package enum WireLimits {
    /// Longest message in bytes, its newline not counted.
    package static let messageBytes = 1 << 20
    /// Most clients at one time.
    package static let clients = 1024
    /// Most requests of one client that are worked on at one time; the rest is read, and waits.
    package static let requestsPerClient = 64
    /// Most requests of one client that wait to be begun.
    package static let waitingRequests = 10_000
    /// Most bytes that those have.
    package static let waitingBytes = 16 << 20
    /// Most requests of one client for access that are not answered: they do not wait for its other requests.
    package static let claimsPerClient = 1024
    /// Most queries of one client that keep running.
    package static let queriesPerClient = 256
    /// A client that leaves more bytes than that unread is not read either.
    package static let unreadBytes = 64 << 20
    /// Bytes of items that one `partial` notification carries at the most, roughly.
    package static let partialBytes = 128 << 10
}
