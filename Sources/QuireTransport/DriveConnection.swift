import Glibc
package import QuireCore

/// A connection to the daemon of one drive, over its control socket.
///
/// The connection is the client's life: when it closes, all that the client holds there is given back.
package final class DriveConnection: Sendable {
    private let loop: MessageLoop
    /// This end.
    package let peer: RPCPeer
    private let ended = CancelSignal()

    /// Connects to the daemon that serves the drive in `home`.
    ///
    /// - Throws: `.unavailable` when none runs, `.notAllowed` for another user's drive.
    package convenience init(home: String) throws(QuireError) {
        try self.init(home: home) { ended in RPCPeer(answersRequests: false, whenClosed: ended) }
    }

    /// Connects and answers the daemon's requests.
    ///
    /// - Parameters:
    ///   - takeRequest: gets each request of the daemon with the peer that answers it; on the thread that reads, in order.
    ///   - whenClosed: called once when the connection is gone; on the thread that reads.
    package convenience init(
        home: String, takeRequest: @escaping @Sendable (RPCIncoming, RPCPeer) -> Void,
        whenClosed: @escaping @Sendable () -> Void
    ) throws(QuireError) {
        try self.init(home: home) { ended in
            RPCPeer(takeRequest: takeRequest) {
                ended()
                whenClosed()
            }
        }
    }

    private init(
        home: String, makePeer: (_ ended: @escaping @Sendable () -> Void) -> RPCPeer
    ) throws(QuireError) {
        let descriptor = try DriveSocket.connect(home: home)
        SocketAddress.prepare(descriptor)
        do {
            loop = try MessageLoop()
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        peer = makePeer { [ended] in ended.fire() }
        peer.attach(descriptor, to: loop)
    }

    /// Ends the connection. Calls that wait are ended with an error.
    package func close() { loop.stop() }

    deinit { loop.stop() }

    /// Whether the connection is gone.
    package var isClosed: Bool { ended.isFired }

    /// Returns when the daemon has closed the connection: it is gone then.
    package func waitUntilClosed() async { await ended.wait() }

    /// Calls a method of the daemon.
    package func call<Method: WireMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters, onPartial: (@Sendable (Method.Partial) -> Void)? = nil
    ) async throws(QuireError) -> Method.Result {
        try await peer.call(method, parameters, onPartial: onPartial)
    }

    /// Calls a method without parameters.
    package func call<Method: WireMethod>(
        _ method: Method.Type, onPartial: (@Sendable (Method.Partial) -> Void)? = nil
    ) async throws(QuireError) -> Method.Result where Method.Parameters == WireNothing {
        try await peer.call(method, WireNothing(), onPartial: onPartial)
    }
}
