import Glibc

/// Programs run as a person would run them.
enum Shell {
    /// Runs a script to its end; its output is dropped, its errors are shown.
    static func run(_ script: String, environment: [String: String] = [:]) throws(BenchmarkError) {
        let child = try start(script, environment: environment)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw BenchmarkError("failed: \(script)") }
    }

    /// Starts a script and returns its process id.
    static func start(_ script: String, environment: [String: String] = [:]) throws(BenchmarkError) -> pid_t {
        for (name, value) in environment { setenv(name, value, 1) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        let words: [String] = ["bash", "-euo", "pipefail", "-c", script]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        guard posix_spawnp(&child, "bash", &actions, nil, arguments, environ) == 0 else {
            throw BenchmarkError("no bash")
        }
        return child
    }

    static func has(_ program: String) -> Bool { (try? run("command -v \(program)")) != nil }
}
