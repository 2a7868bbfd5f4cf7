import Dispatch
import Foundation
import Glibc

/// One program, run in a process of its own with a time limit.
///
/// The tests never touch a mount themselves: a process with unanswered requests of a dead mount can stay unkillable.
/// Past its limit a command's connections are aborted first, then its process group is killed.
struct Command: Sendable {
    var arguments: [String]
    var directory: String?
    var environment: [String: String] = [:]
    var limitSeconds = 60.0
    /// Mountpoints whose connections are aborted when the limit has passed.
    var abortingMountsAt: [String] = []

    /// How a command ended.
    struct Outcome: Sendable {
        /// Exit code, or 128 + signal.
        let status: Int32
        let output: String
        let errors: String
        let timedOut: Bool
    }

    /// A command that should have succeeded and did not.
    struct Failure: Error, CustomStringConvertible {
        let command: Command
        let outcome: Outcome

        var description: String {
            let shown = command.arguments.map { $0.count > 2000 ? $0.prefix(2000) + "…" : $0 }.joined(separator: " ")
            return """
                \(outcome.timedOut ? "TIMED OUT" : "exit \(outcome.status)"): \(shown)
                \(outcome.output.suffix(4000))
                \(outcome.errors.suffix(4000))
                """
        }
    }

    /// Runs it to its end and reports whatever came of it.
    func run() async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: RunningCommand(self).waitForEnd()) }
        }
    }

    /// Runs it and returns what it printed; throws unless it ends with 0.
    @discardableResult
    func succeed() async throws -> String {
        let outcome = await run()
        guard outcome.status == 0, !outcome.timedOut else { throw Failure(command: self, outcome: outcome) }
        return outcome.output
    }
}

/// A command that has been started.
///
/// `@unchecked Sendable`: the pid and files are set once in `init`; `timedOut` is guarded by `lock`.
final class RunningCommand: @unchecked Sendable {
    let processID: pid_t
    private let command: Command
    private let output = CapturedFile()
    private let errors = CapturedFile()
    private let lock = NSLock()
    private var timedOut = false

    init(_ command: Command) {
        self.command = command
        var arguments = command.arguments
        // The change of directory happens in the child, after exec: entering a hung mount must not hang the tests.
        if let directory = command.directory { arguments = ["/usr/bin/env", "-C", directory] + arguments }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.descriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, errors.descriptor, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of the tests may have every signal blocked; programs expect none to be.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))

        var variables = ProcessInfo.processInfo.environment
        variables["LC_ALL"] = "C.UTF-8"
        // Secrets of tests are not for the keyring of who runs them.
        variables["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nonexistent"
        variables.merge(command.environment) { $1 }
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, arguments[0], &actions, &attributes, argv, envp)
        processID = code == 0 ? child : -1
        if code != 0 { errors.write("\(arguments[0]): \(String(cString: strerror(code)))") }
    }

    /// Blocks until the process ended, by itself or by its limit.
    func waitForEnd() -> Command.Outcome {
        guard processID > 0 else { return outcome(status: 127) }
        // The queue keeps it until its time, cancelled or not: it must not keep the output's files.
        let watchdog = DispatchWorkItem { [weak self] in self?.expire() }
        DispatchQueue.global().asyncAfter(deadline: .now() + command.limitSeconds, execute: watchdog)
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        watchdog.cancel()
        let signal = status & 0x7F
        return outcome(status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
    }

    private func expire() {
        lock.withLock { timedOut = true }
        kill()
    }

    /// Aborts the connections named in the command and kills the process with its children.
    func kill(abortingMounts: Bool = true) {
        for mountpoint in abortingMounts ? command.abortingMountsAt : [] { FuseConnection.at(mountpoint)?.abort() }
        Glibc.kill(-processID, SIGKILL)
    }

    private func outcome(status: Int32) -> Command.Outcome {
        let expired = lock.withLock { timedOut }
        return .init(status: status, output: output.text, errors: errors.text, timedOut: expired)
    }
}

/// A nameless file that takes a child's output; unlike a pipe it does not keep a daemon's starter waiting.
private final class CapturedFile: Sendable {
    let descriptor: Int32

    init() {
        var template = Array("/tmp/quire-output-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        precondition(descriptor >= 0, "no temporary file in /tmp")
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_APPEND)
    }

    deinit { close(descriptor) }

    func write(_ text: String) {
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    var text: String {
        let end = lseek(descriptor, 0, SEEK_END)
        guard end > 0 else { return "" }
        var bytes = [UInt8](repeating: 0, count: Int(end))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
