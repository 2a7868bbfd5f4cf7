import Glibc

/// Other programs, run without a shell between.
enum Program {
    /// Runs a program to its end; its output is dropped, its errors are shown.
    ///
    /// - Returns: its exit code.
    /// - Throws: when that is none of `accepting`.
    @discardableResult
    static func run(_ arguments: String..., accepting codes: [Int32] = [0]) throws(BenchmarkError) -> Int32 {
        try run(arguments, accepting: codes)
    }

    @discardableResult
    static func run(_ arguments: [String], accepting codes: [Int32] = [0]) throws(BenchmarkError) -> Int32 {
        let child = try start(arguments, log: nil)
        let code = wait(child)
        guard codes.contains(code) else {
            throw BenchmarkError("exit code \(code): \(arguments.joined(separator: " "))")
        }
        return code
    }

    /// Runs a script of bash.
    static func script(_ text: String) throws(BenchmarkError) {
        try run("bash", "-euo", "pipefail", "-c", text)
    }

    /// Starts a program; with a log, both its output and its errors go there.
    static func start(_ arguments: [String], log: String?) throws(BenchmarkError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o644)
        if log != nil { posix_spawn_file_actions_adddup2(&actions, 1, 2) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Ours are blocked for the watchdog; a group of its own keeps the terminal's interrupt from it.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        let group = log == nil ? 0 : POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | group))
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let result = posix_spawnp(&child, arguments[0], &actions, &attributes, words, environ)
        guard result == 0 else {
            throw BenchmarkError("cannot start \(arguments[0]): \(String(cString: strerror(result)))")
        }
        return child
    }

    /// The exit code; 255 when a signal ended it.
    static func wait(_ child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return code(status)
    }

    /// The exit code once it ended within the time, else nil.
    static func wait(_ child: pid_t, seconds: Int) -> Int32? {
        var status: Int32 = 0
        for _ in 0..<(seconds * 100) {
            if waitpid(child, &status, WNOHANG) == child { return code(status) }
            usleep(10_000)
        }
        return nil
    }

    static func has(_ program: String) -> Bool {
        (try? run("bash", "-c", "command -v \(program)")) != nil
    }

    private static func code(_ status: Int32) -> Int32 { status & 0x7F == 0 ? (status >> 8) & 0xFF : 255 }
}
