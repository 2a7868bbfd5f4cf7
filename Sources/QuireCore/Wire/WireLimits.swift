/// The limits of the control socket (design, "Control socket").
package enum WireLimits {
    /// Longest message in bytes, its newline not counted.
    package static let messageBytes = 1 << 20
    /// Most clients at one time.
    package static let clients = 1024
    /// Most requests of one client that are being answered at one time; the rest wait in its socket.
    package static let requestsPerClient = 64
    /// Bytes of items that one `partial` notification carries at the most, roughly.
    package static let partialBytes = 128 << 10
}
