import Glibc
package import QuireCore
import Synchronization

/// A listening Unix socket in a directory, mode 0600, for one user only.
package final class MessageListener: Sendable {
    let descriptor: Int32
    private let limit: Int
    private let accepted: @Sendable (Int32, PeerCredentials) -> Void
    private let refuse: @Sendable (QuireError) -> [UInt8]
    // A descriptor in reserve, given up for a moment to refuse a client when there is no other left. Loop thread only.
    private let reserve = Lock<Int32>(-1)

    /// Binds `directory/name`, replacing a socket that nobody listens on any more.
    ///
    /// The caller holds the lock that makes it the only daemon of this home.
    /// - Parameters:
    ///   - limit: most clients at one time.
    ///   - refuse: the message for a client that is turned away.
    ///   - accepted: gets each client's socket, on the loop's thread.
    package init(
        directory: String, name: String, limit: Int, refuse: @escaping @Sendable (QuireError) -> [UInt8],
        accepted: @escaping @Sendable (Int32, PeerCredentials) -> Void
    ) throws(QuireError) {
        self.limit = limit
        self.accepted = accepted
        self.refuse = refuse
        descriptor = try Self.bind(directory: directory, name: name)
        SocketAddress.prepare(descriptor)
        reserve.withLock { $0 = open("/dev/null", O_RDONLY | O_CLOEXEC) }
    }

    private static func bind(directory: String, name: String) throws(QuireError) -> Int32 {
        let descriptor = try SocketAddress.makeSocket()
        do {
            try SocketAddress.withAddress(directory: directory, name: name) { address, length throws(QuireError) in
                unlink("\(directory)/\(name)")
                // unix(7): bind gives the file the mode of the socket. The umask is the whole process's, and other threads
                // make files meanwhile.
                guard fchmod(descriptor, 0o600) == 0, Glibc.bind(descriptor, address, length) == 0,
                    Glibc.listen(descriptor, 512) == 0
                else {
                    throw QuireError(
                        .failed, "cannot listen on \(directory)/\(name): \(String(cString: strerror(errno)))")
                }
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    func acceptAll(clients: Int) {
        var clients = clients
        while true {
            let client = acceptOne()
            if client < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno == EMFILE || errno == ENFILE, refuseWithReserve() { continue }
                return
            }
            guard let peer = PeerCredentials(socket: client), peer.mayTalk else {
                turnAway(client, QuireError(.notAllowed, "this drive belongs to another user"))
                continue
            }
            guard clients < limit else {
                turnAway(client, Self.tooMany(limit))
                continue
            }
            clients += 1
            accepted(client, peer)
        }
    }

    private func acceptOne() -> Int32 {
        let client = accept(descriptor, nil, nil)
        if client >= 0 { SocketAddress.prepare(client) }
        return client
    }

    func close() {
        Glibc.close(descriptor)
        reserve.withLock { if $0 >= 0 { Glibc.close($0) } }
    }

    private func refuseWithReserve() -> Bool {
        reserve.withLock { reserve in
            guard reserve >= 0 else { return false }
            Glibc.close(reserve)
            let client = acceptOne()
            if client >= 0 { turnAway(client, Self.tooMany(limit)) }
            reserve = open("/dev/null", O_RDONLY | O_CLOEXEC)
            return client >= 0
        }
    }

    private func turnAway(_ client: Int32, _ error: QuireError) {
        let message = refuse(error)
        _ = message.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        Glibc.close(client)
    }

    private static func tooMany(_ limit: Int) -> QuireError {
        QuireError(
            .busy, "the daemon serves its most clients already (\(limit))", remedy: "Try again when one has ended")
    }
}

/// Who is at the other end of a Unix socket.
package struct PeerCredentials: Sendable, Hashable {
    package let pid: Int32
    package let uid: UInt32

    /// Asks the kernel (SO_PEERCRED).
    init?(socket: Int32) {
        // struct ucred of <sys/socket.h>: pid, uid, gid, 32 bits each.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(12)
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == 12 else { return nil }
        self.pid = Int32(bitPattern: credentials[0])
        self.uid = credentials[1]
    }

    /// The daemon's own user, and root.
    var mayTalk: Bool { uid == geteuid() || uid == 0 }
}
