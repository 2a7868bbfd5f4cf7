import Glibc
import QuireCore

/// Programs, run to their end.
enum Command {
    /// - Throws: `.unavailable` when it fails.
    static func run(_ program: String, _ arguments: String...) throws { try run(program, arguments) }

    /// Not by Foundation's `Process`, which notices an end only every 50 ms.
    ///
    /// - Throws: `.unavailable` when it fails.
    static func run(_ program: String, _ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        let argv = ([program] + arguments).map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var (process, status) = (pid_t(0), Int32(0))
        let code = posix_spawn(&process, program, &actions, nil, argv, environ)
        guard code == 0 else { throw QuireError(.unavailable, "\(program): \(String(cString: strerror(code)))") }
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw QuireError(.unavailable, "\(program) \(arguments) ended with status \(status)") }
    }
}
