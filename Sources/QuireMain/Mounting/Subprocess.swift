import Glibc
import QuireCore

/// Another program, started without a shell.
struct Subprocess {
    /// A name is looked up in PATH.
    let path: String
    /// What the program sees as its own name; nil: `path`.
    var name: String?
    let arguments: [String]

    /// Runs it to its end and returns its exit code, 255 when a signal ended it.
    func run() throws(QuireError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let process = try spawn(actions: &actions, flags: 0)
        return Self.wait(process)
    }

    /// Starts it apart from this session: standard input from nowhere, output appended to `log`, `descriptor` as 3, all
    /// others closed.
    func startDetached(log: String, descriptor: Int32) throws(QuireError) -> pid_t {
        Self.keepDescriptorsHere()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        posix_spawn_file_actions_adddup2(&actions, descriptor, 3)
        return try spawn(actions: &actions, flags: Self.newSession)
    }

    /// The exit code of a process of ours, 255 when a signal ended it.
    static func wait(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 255
    }

    /// Descriptors that this process was given by its parent are not passed on: a daemon would keep them open.
    private static func keepDescriptorsHere() {
        guard let directory = opendir("/proc/self/fd") else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let descriptor = Int32(name), descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// POSIX_SPAWN_SETSID of <spawn.h>, which the Glibc module does not show.
    private static let newSession: Int16 = 0x80

    /// - Parameter environment: beside this process's own, and instead of variables of the same name.
    func spawn(
        actions: inout posix_spawn_file_actions_t, flags: Int16, environment: [String: String] = [:]
    ) throws(QuireError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, flags | Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers: [UnsafeMutablePointer<CChar>?] = ([name ?? path] + arguments).map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        var variables = Self.variables(environment)
        defer { for variable in variables { free(variable) } }
        variables.append(nil)
        var process: pid_t = 0
        let result = posix_spawnp(&process, path, &actions, &attributes, pointers, variables)
        guard result == 0 else {
            throw QuireError(.unavailable, "cannot start \(path): \(String(cString: strerror(result)))")
        }
        return process
    }

    /// This process's environment with `changes`, each to be freed.
    private static func variables(_ changes: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
        var result: [UnsafeMutablePointer<CChar>?] = changes.map { strdup("\($0.key)=\($0.value)") }
        var place = environ
        while let variable = place.pointee {
            let name = String(cString: variable).prefix { $0 != "=" }
            if changes[String(name)] == nil { result.append(strdup(variable)) }
            place += 1
        }
        return result
    }
}
