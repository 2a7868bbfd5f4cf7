import CLinux
import Glibc
package import QuireCore

/// Limits of a program that reads what anybody may have written.
package struct ConfinementLimits: Sendable, Hashable {
    /// From start to end.
    package var time: Duration = .seconds(20)
    package var processorSeconds: UInt32 = 15
    /// Of each process.
    package var memory = ByteCount(1_610_612_736)
    /// Of each file that it writes.
    package var fileSize = ByteCount(16_777_216)
    /// Of all that it leaves in its working directory.
    package var directorySize = ByteCount(67_108_864)
    package var descriptors: UInt32 = 64
    /// Processes and threads, where they can be told from the user's others.
    package var processes: UInt32 = 64

    package init() {}
}

/// How a confined program ended.
package enum ConfinedEnd: Sendable, Hashable {
    case exited(code: Int32)
    /// Killed by us.
    case outOfTime
    /// Killed by us: it wrote more than it may.
    case wroteTooMuch
}

/// Runs programs that are trusted with nothing but their working directory.
///
/// Where the daemon is root's they run as nobody. Else they may still read and write what the user may: only network, other
/// processes and the daemon's descriptors are out of their reach. Blocks until the program has ended; any thread.
package struct ConfinedProgram: Sendable {
    /// Absolute path.
    package let program: String
    package let arguments: [String]
    /// Absolute path; HOME and TMPDIR, too.
    package let directory: String
    package var limits = ConfinementLimits()

    /// Who it becomes where the daemon is root's: nobody, nogroup.
    static let nobody: uid_t = 65534

    package init(program: String, arguments: [String], directory: String, limits: ConfinementLimits = .init()) {
        self.program = program
        self.arguments = arguments
        self.directory = directory
        self.limits = limits
    }

    /// Runs it to its end, or kills it with all that it started.
    ///
    /// - Parameter isCancelled: asked ten times a second; true kills it.
    /// - Throws: `.unavailable` when no process can be had; `.temporary` when cancelled.
    package func run(isCancelled: () -> Bool = { false }) throws(QuireError) -> ConfinedEnd {
        let process = spawn()
        guard process > 0 else {
            throw QuireError(.unavailable, "cannot start \(program): \(String(cString: strerror(errno)))")
        }
        let start = ContinuousClock.now
        while quire_wait_for_process(process, 100) != 1 {
            if isCancelled() {
                end(process)
                throw QuireError(.temporary, "\(program) was stopped")
            }
            if ContinuousClock.now - start >= limits.time {
                end(process)
                return .outOfTime
            }
            if WorkDirectory.size(directory) > limits.directorySize.bytes {
                end(process)
                return .wroteTooMuch
            }
        }
        return .exited(code: reap(process))
    }

    private func end(_ process: pid_t) {
        // The session's processes, and the one that takes the namespace with it.
        _ = kill(-process, SIGKILL)
        _ = kill(process, SIGKILL)
        _ = reap(process)
    }

    private func reap(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 255 }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    private func spawn() -> pid_t {
        let environment = [
            "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=\(directory)", "TMPDIR=\(directory)",
            "XDG_CACHE_HOME=\(directory)", "XDG_CONFIG_HOME=\(directory)", "XDG_RUNTIME_DIR=\(directory)",
            // Vips makes a thread a core else, GLib looks for a bus.
            "VIPS_CONCURRENCY=1", "DBUS_SESSION_BUS_ADDRESS=disabled:", "GIO_USE_VFS=local",
        ]
        var confinement = quire_confinement()
        confinement.address_space = UInt64(limits.memory.bytes)
        confinement.file_size = UInt64(limits.fileSize.bytes)
        confinement.cpu_seconds = limits.processorSeconds
        confinement.descriptors = limits.descriptors
        confinement.processes = limits.processes
        confinement.user = Self.nobody
        confinement.group = Self.nobody
        return Self.withPointers([program] + arguments) { arguments in
            Self.withPointers(environment) { environment in
                quire_spawn_confined(program, arguments, environment, directory, &confinement)
            }
        }
    }

    private static func withPointers<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value where Value: SignedNumeric {
        var pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        // An array of at least one element has a base address.
        return pointers.withUnsafeBufferPointer { buffer in buffer.baseAddress.map(body) ?? -1 }
    }
}
