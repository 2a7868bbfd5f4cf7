import Glibc
import QuireCommandLine
import QuireCore
import QuireStore
import QuireTransport

/// Starts the daemon in the background and waits until it serves, or says why it does not.
struct DaemonLauncher {
    let location: HomeLocation
    /// Of the hidden form of `quire mount` that the daemon is.
    let arguments: [String]

    /// Returns when the daemon has mounted the drive.
    func start() throws(QuireError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw QuireError(.failed, "no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process: pid_t
        do {
            defer { close(ends[1]) }
            process = try Subprocess(path: "/proc/self/exe", name: "quire", arguments: arguments)
                .startDetached(log: location.logPath, descriptor: ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        defer { close(ends[0]) }
        let report = Self.line(from: ends[0])
        guard report != Self.ready else { return }
        if let error = try? WireCodec.decode(RPCError.self, from: report) { throw error.quireError }
        let code = Subprocess.wait(process)
        throw QuireError(
            .unavailable, "the daemon ended at its start (exit code \(code))", remedy: "See \(location.logPath)")
    }

    /// Lays the home out, so that the daemon has a place for its log.
    static func prepareHome(_ location: HomeLocation) throws(QuireError) {
        do {
            try DriveHome(path: location.home).createLayout()
        } catch {
            throw QuireError(error)
        }
    }

    /// What the daemon writes once it serves.
    static let ready = Array("ready".utf8)

    private static func line(from descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        // A daemon that ended says nothing more, nor does one that cannot be read.
        while !bytes.contains(0x0A), let more = try? DescriptorReading.next(from: descriptor), !more.isEmpty {
            bytes += more
        }
        return Array(bytes.prefix { $0 != 0x0A })
    }
}

/// The daemon's side of `DaemonLauncher`: reports once.
struct LaunchReport: Sendable {
    /// Nil in the foreground: nobody waits.
    let descriptor: Int32?
    /// Nil without one.
    let serviceManager: ServiceManager?

    /// - Parameter status: for the service manager, one line.
    func ready(_ status: String) {
        send(DaemonLauncher.ready + [0x0A])
        serviceManager?.notify("READY=1\nSTATUS=\(status)")
    }

    func failed(_ error: QuireError) {
        // An error's text always has a form in JSON.
        send((try? WireCodec.line(RPCError(error))) ?? [])
        serviceManager?.notify("STATUS=\(error.message)")
    }

    private func send(_ bytes: [UInt8]) {
        guard let descriptor else { return }
        Output.write(bytes, to: descriptor)
        close(descriptor)
    }
}
