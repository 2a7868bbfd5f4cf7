import QuireCore
import QuireTransport
import Synchronization

/// A client's life: what it holds is given back when its connection ends.
final class ClientSession: Sendable {
    private struct State {
        var isClosed = false
        var next: UInt64 = 1
        var held: [UInt64: @Sendable () -> Void] = [:]
        var peer: RPCPeer?
    }

    /// The client's process, 0 where there is none.
    let pid: Int32
    // Taken alone; what is run on closing runs outside.
    private let state = Lock(State())

    init(pid: Int32) { self.pid = pid }

    /// Whether the client is gone.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The other end, for requests of the daemon; nil once the client is gone, and for callers without a connection.
    var peer: RPCPeer? { state.withLock { $0.peer } }

    /// Names the other end.
    func attach(_ peer: RPCPeer) { state.withLock { if !$0.isClosed { $0.peer = peer } } }

    /// Has `release` run when the client goes; at once when it has gone.
    ///
    /// - Returns: what `forget` takes.
    func whenClosed(_ release: @escaping @Sendable () -> Void) -> UInt64 {
        let number: UInt64? = state.withLock { state in
            guard !state.isClosed else { return nil }
            defer { state.next += 1 }
            state.held[state.next] = release
            return state.next
        }
        guard let number else {
            release()
            return 0
        }
        return number
    }

    /// Takes back what `whenClosed` was given.
    func forget(_ number: UInt64) { state.withLock { $0.held[number] = nil } }

    /// The client is gone.
    func close() {
        let held = state.withLock { state in
            state.isClosed = true
            state.peer = nil
            defer { state.held = [:] }
            return state.held.sorted { $0.key < $1.key }.map(\.value)
        }
        for release in held { release() }
    }
}
