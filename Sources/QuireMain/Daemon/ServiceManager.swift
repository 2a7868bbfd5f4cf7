import Glibc

/// The service manager that started the daemon, told by datagrams how it stands (sd_notify(3)).
struct ServiceManager: Sendable {
    /// An absolute path; with `@` first, a name in the abstract namespace.
    let socket: String
    /// How often it wants to hear that the daemon is alive; nil: never.
    let watchdogMicroseconds: Int?

    /// Nil where none waits to be told.
    ///
    /// - Parameter variable: looks up an environment variable.
    static func fromEnvironment(_ variable: (String) -> String? = HomeOptions.variable) -> ServiceManager? {
        guard let socket = variable("NOTIFY_SOCKET"), socket.hasPrefix("/") || socket.hasPrefix("@") else { return nil }
        // Meant for another process, where it is named and not this one.
        let isMine = variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        let interval = variable("WATCHDOG_USEC").flatMap { Int($0) }.flatMap { $0 > 0 && isMine ? $0 : nil }
        return ServiceManager(socket: socket, watchdogMicroseconds: interval)
    }

    /// Sends assignments, one a line. Nobody is told of a failure: who would hear of it is the one that does not listen.
    func notify(_ state: String) {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socket.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A name in the abstract namespace ends with the address, a path with a NUL.
        let length = MemoryLayout<sa_family_t>.size + name.count + (name[0] == 0 ? 0 : 1)
        let text = Array(state.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }
}
