import Glibc

/// The daemon's socket, from a client's end.
package enum DriveSocket {
    /// Its name in the home directory.
    package static let name = "daemon.sock"

    /// A blocking descriptor that is connected to the daemon which serves the drive in `home`.
    ///
    /// - Throws: `.unavailable` when none runs, `.notAllowed` for another user's drive, `.temporary` where too many wait.
    package static func connect(home: String) throws(QuireError) -> Int32 {
        let descriptor = try SocketAddress.makeSocket()
        do {
            try SocketAddress.withAddress(directory: home, name: name) { address, length throws(QuireError) in
                guard Glibc.connect(descriptor, address, length) == 0 else { throw refusal(errno, home: home) }
            }
        } catch {
            Glibc.close(descriptor)
            guard error.code == .notFound else { throw error }
            throw refusal(ENOENT, home: home)
        }
        return descriptor
    }

    private static func refusal(_ code: Int32, home: String) -> QuireError {
        switch code {
        case ENOENT, ECONNREFUSED:
            QuireError(.unavailable, "no daemon serves the drive in \(home)", remedy: "Start it with `quire mount`")
        case EACCES, EPERM:
            QuireError(.notAllowed, "the drive in \(home) belongs to another user")
        case EAGAIN:
            QuireError(.temporary, "the daemon of \(home) has too many clients waiting", remedy: "Try again")
        default:
            QuireError(.unavailable, "cannot connect to the daemon of \(home): \(String(cString: strerror(code)))")
        }
    }
}
