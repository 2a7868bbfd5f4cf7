import Glibc
import Synchronization

/// Ends what hangs: aborts the connection of the file system that a step has waited for too long, and at an interrupt
/// all of them, so that neither this program nor the machine is stuck in a mount.
enum Watchdog {
    private struct State {
        /// The processes that serve mounts.
        var servers: [pid_t: (connection: UInt32, mountpoint: String)] = [:]
        var watched: (connection: UInt32, until: Int)?
    }

    private static let state = Mutex(State())
    /// A step may take this long.
    static let limitSeconds = 600

    /// Starts the watching thread; later threads inherit that interrupts are its own.
    static func start() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in Watchdog.watch() }, nil)
    }

    /// - Parameter connection: the minor device number of the mount.
    static func add(server: pid_t, connection: UInt32, mountpoint: String) {
        state.withLock { $0.servers[server] = (connection, mountpoint) }
    }

    static func remove(server: pid_t) {
        state.withLock { $0.servers[server] = nil }
    }

    /// Runs a step that must not take longer than the limit.
    static func watching<Result>(_ connection: UInt32?, _ body: () throws -> Result) rethrows -> Result {
        guard let connection else { return try body() }
        state.withLock { $0.watched = (connection, time(nil) + limitSeconds) }
        defer { state.withLock { $0.watched = nil } }
        return try body()
    }

    /// Every request then fails with ENOTCONN; programs that wait go on.
    static func abort(_ connection: UInt32) {
        let descriptor = open("/sys/fs/fuse/connections/\(connection)/abort", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if write(descriptor, "1", 1) != 1 { perror("abort of connection \(connection)") }
    }

    private static func watch() -> UnsafeMutableRawPointer? {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        var second = timespec(tv_sec: 1, tv_nsec: 0)
        while true {
            if sigtimedwait(&signals, nil, &second) > 0 { interrupted() }
            let late = state.withLock { state -> UInt32? in
                guard let watched = state.watched, time(nil) > watched.until else { return nil }
                state.watched = nil
                return watched.connection
            }
            if let late { abort(late) }
        }
    }

    private static func interrupted() -> Never {
        let servers = state.withLock { $0.servers }
        for (server, mount) in servers {
            abort(mount.connection)
            kill(server, SIGKILL)
            _ = try? Program.run("fusermount3", "-u", "-z", mount.mountpoint)
        }
        say("interrupted: the mounts of this run are ended, its directories are left behind")
        exit(130)
    }
}
