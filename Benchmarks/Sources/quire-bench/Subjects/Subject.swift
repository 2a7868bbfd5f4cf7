import Glibc

/// A way to the same file system: bare, or through a FUSE file system over a directory of its own.
final class Subject {
    enum Kind: String, CaseIterable {
        case bare
        case passthroughLL = "passthrough_ll"
        case bindfs
        case quire
        /// As where the kernel or the privileges forbid passthrough.
        case quireWithoutPassthrough = "quire-nopassthrough"

        var isQuire: Bool { self == .quire || self == .quireWithoutPassthrough }
    }

    let kind: Kind
    /// Where to work.
    let directory: String
    /// What it shows lies here.
    let storage: String
    /// The minor device number of the mount, by which the kernel names its connection.
    private(set) var connection: UInt32?
    private(set) var server: pid_t?
    private let command: [String]
    private let log: String
    let quire: String
    let home: String

    /// - Parameters:
    ///   - root: a directory of this subject's own, to be made.
    ///   - descriptors: how many the server may have, if fewer than this program.
    init(
        _ kind: Kind, root: String, quire: String, passthroughLL: String, descriptors: Int? = nil
    ) throws(BenchmarkError) {
        self.kind = kind
        self.quire = quire
        home = "\(root)/home"
        log = "\(root)/log"
        directory = "\(root)/\(kind == .bare ? "store" : "mount")"
        try Self.make(root)
        try Self.make("\(root)/store")
        if kind != .bare { try Self.make("\(root)/mount") }
        storage = kind.isQuire ? "\(home)/drive" : "\(root)/store"
        let limit = descriptors.map { ["prlimit", "--nofile=\($0):\($0)"] } ?? []
        let server: [String] =
            switch kind {
            case .bare: []
            case .passthroughLL: [passthroughLL, "-f", "-o", "source=\(root)/store", "\(root)/mount"]
            case .bindfs: ["bindfs", "-f", "\(root)/store", "\(root)/mount"]
            case .quire: [quire, "mount", "-f", "--home", home, "\(root)/mount"]
            case .quireWithoutPassthrough:
                [quire, "mount", "-f", "--home", home, "-o", "nopassthrough", "\(root)/mount"]
            }
        command = limit + server
    }

    /// Returns when the mount answers.
    func start() throws(BenchmarkError) {
        guard kind != .bare else { return }
        var before = stat()
        guard stat(directory, &before) == 0 else { throw BenchmarkError("stat", directory) }
        let child = try Program.start(command, log: log)
        server = child
        for _ in 0..<3000 {
            var status = stat()
            if stat(directory, &status) == 0, status.st_dev != before.st_dev {
                let minor = UInt32(Device(status.st_dev).minor)
                connection = minor
                Watchdog.add(server: child, connection: minor, mountpoint: directory)
                return
            }
            if let code = Program.wait(child, seconds: 0) ?? ended(child) {
                server = nil
                throw BenchmarkError("\(kind.rawValue) ended with \(code): see \(log)")
            }
            usleep(10_000)
        }
        throw BenchmarkError("\(kind.rawValue) did not mount \(directory): see \(log)")
    }

    /// Unmounts; what does not end by itself is ended.
    func stop() {
        guard let child = server else { return }
        defer {
            Watchdog.remove(server: child)
            server = nil
            connection = nil
        }
        do {
            if kind.isQuire {
                try Program.run(quire, "unmount", "--home", home)
            } else {
                try Program.run("fusermount3", "-u", directory)
            }
            if Program.wait(child, seconds: 30) != nil { return }
        } catch {
            say("\(kind.rawValue): \(error)")
        }
        if let connection { Watchdog.abort(connection) }
        kill(child, SIGKILL)
        _ = Program.wait(child)
        _ = try? Program.run("fusermount3", "-u", "-z", directory)
    }

    /// Returns when the subject does nothing any more: what it owes is done, or has had some seconds.
    ///
    /// - Returns: whether all is done.
    func settle() throws(BenchmarkError) -> Bool {
        guard server != nil else { return true }
        var isDone = true
        if kind.isQuire {
            // Deletions of a whole tree may be held back for a confirmation.
            let sync = [quire, "sync", "--home", home, "--confirm-deletes", "--timeout", "\(Self.settleSeconds)"]
            isDone = try Program.run(sync, accepting: [0, Self.timedOut]) == 0
        }
        if isDone { rest() }
        return isDone
    }

    /// How long the drive may upload between two measurements.
    private static let settleSeconds = 20
    /// `quire sync` when its time is up.
    private static let timedOut: Int32 = 75

    /// Returns when the server has used no processor time for a while.
    func rest() {
        guard let child = server else { return }
        var last = -1
        while true {
            let ticks = Self.processorTicks(child)
            if ticks == last { return }
            last = ticks
            usleep(50_000)
        }
    }

    /// Processor time of a process in clock ticks, -1 when it is gone.
    private static func processorTicks(_ process: pid_t) -> Int {
        guard let file = fopen("/proc/\(process)/stat", "re") else { return -1 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1024)
        guard fgets(&line, Int32(line.count), file) != nil else { return -1 }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The fields after the program's name, which is in parentheses: the state is the first.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return -1 }
        return user + system
    }

    private func ended(_ child: pid_t) -> Int32? {
        var status: Int32 = 0
        return waitpid(child, &status, WNOHANG) == child ? status : nil
    }

    private static func make(_ path: String) throws(BenchmarkError) {
        guard mkdir(path, 0o755) == 0 else { throw BenchmarkError("mkdir", path) }
    }
}
