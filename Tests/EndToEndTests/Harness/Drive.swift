import Foundation
import Glibc

/// A drive of the binary under test: its home, its mountpoint, and how to work on both from other processes.
struct Drive: Sendable {
    let name: String
    let home: String
    let mountpoint: String
    var binary = Machine.quire
    /// Of its programs' environment, beside those that every drive has.
    var variables: [String: String] = [:]

    /// Where the embedded folder provider keeps documents.
    var embeddedProvider: String { "\(home)/provider" }
    /// The store that the mount shows.
    var store: String { "\(home)/drive" }

    /// Where file managers of this device's user would find thumbnails.
    var thumbnails: String { "\(home).cache/thumbnails" }
    var environment: [String: String] {
        ["QUIRE_HOME": home, "XDG_CACHE_HOME": "\(home).cache"].merging(variables) { $1 }
    }

    /// Sets a key of `config.toml` that is there already.
    func configure(_ key: String, _ value: String) throws {
        let path = "\(home)/config.toml"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.contains(where: { $0.hasPrefix("\(key) =") }) else { throw Trouble("no \(key) in \(path)") }
        let changed = lines.map { $0.hasPrefix("\(key) =") ? "\(key) = \(value)" : String($0) }
        try changed.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Puts a line at the beginning of a section of `config.toml`.
    func configure(in section: String, _ line: String) throws {
        let path = "\(home)/config.toml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard text.contains("[\(section)]\n") else { throw Trouble("no [\(section)] in \(path)") }
        try text.replacingOccurrences(of: "[\(section)]\n", with: "[\(section)]\n\(line)\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Runs `quire`, outside the mount.
    func quire(_ arguments: String..., limitSeconds: Double = 60) async -> Command.Outcome {
        await quire(arguments, limitSeconds: limitSeconds)
    }

    /// Runs `quire`, outside the mount.
    func quire(_ arguments: [String], limitSeconds: Double = 60) async -> Command.Outcome {
        await Command(
            arguments: [binary] + arguments, environment: environment, limitSeconds: limitSeconds,
            abortingMountsAt: [mountpoint]
        ).run()
    }

    /// Mounts and waits until the mount answers.
    func mount(options: [String] = []) async throws {
        let verbose = Workspace.keptLogs == nil ? [] : ["--verbose"]
        try await quire(["mount", mountpoint] + options + verbose).require(0)
        guard FuseConnection.at(mountpoint) != nil else {
            throw Trouble("\(mountpoint) is not mounted after quire mount")
        }
    }

    /// Ends the mount and the daemon in good order.
    func unmount() async throws { try await quire("unmount").require(0) }

    /// Pushes and pulls until nothing is pending.
    /// - Parameter seconds: it may take.
    func sync(seconds: Int = 45) async throws {
        do {
            try await quire("sync", "--timeout", "\(seconds)", limitSeconds: Double(seconds + 15)).require(0)
        } catch {
            let status = await quire("status")
            let waiting = await quire("find", "--state", "dirty", "--state", "uploading", "--state", "error", "--json")
            let conflicts = await quire("conflicts")
            throw Trouble(
                "quire sync: \(error)\n\(status.output)\n\(waiting.output.prefix(3000))\n\(conflicts.output)")
        }
    }

    /// Runs a shell script inside the mount and returns what it printed; throws when it fails.
    @discardableResult
    func sh(_ script: String, limitSeconds: Double = 60) async throws -> String {
        try await shell(script, limitSeconds: limitSeconds).succeed()
    }

    /// Whether files take no room; but where the homes are on no tmpfs, a block of attributes.
    func takeNoRoom(_ paths: String) async throws -> Bool {
        let type = try await Command(arguments: ["stat", "-f", "-c", "%T", store]).succeed()
        let most = type == "tmpfs\n" ? 0 : 8
        return try await sh("stat -c %b \(paths)").split(separator: "\n").allSatisfy {
            Int($0).map { $0 <= most } ?? false
        }
    }

    /// A shell script inside the mount, not yet run.
    func shell(_ script: String, limitSeconds: Double = 60) -> Command {
        Command(
            arguments: ["bash", "-euo", "pipefail", "-c", script], directory: mountpoint,
            environment: environment.merging(["QUIRE": binary]) { $1 }, limitSeconds: limitSeconds,
            abortingMountsAt: [mountpoint])
    }

    /// Runs one of the Python programs beside these tests.
    func python(_ program: String, _ arguments: [String], limitSeconds: Double = 120) -> Command {
        Command(
            arguments: ["/usr/bin/python3", "\(Machine.programs)/\(program)"] + arguments, limitSeconds: limitSeconds,
            abortingMountsAt: [mountpoint])
    }

    /// `quire … --json`, decoded.
    func json(_ arguments: String...) async throws -> JSON {
        let outcome = try await quire(arguments + ["--json"]).require(0)
        return try JSON(outcome.output)
    }

    /// The daemon's process id; nil when its pid file names none.
    var daemonProcessID: pid_t? {
        guard let text = try? String(contentsOfFile: "\(home)/daemon.pid", encoding: .utf8) else { return nil }
        return text.split(whereSeparator: \.isWhitespace).first.flatMap { pid_t($0) }
    }

    /// Ends the daemon as a crash would and waits until it is gone.
    func crash() throws {
        guard let daemon = daemonProcessID, daemon > 1, isOurs(daemon) else { throw Trouble("no daemon of \(home)") }
        kill(daemon, SIGKILL)
        // The last descriptor of the connection goes with the process; the mount is dead from then on.
        try waitUntil("daemon \(daemon) is gone", seconds: 10) { kill(daemon, 0) != 0 }
    }

    /// Leaves nothing mounted or running, in good order where possible.
    func close() async {
        if FuseConnection.at(mountpoint) != nil || isRunning {
            _ = await quire(["unmount"], limitSeconds: 20)
        }
        while let connection = FuseConnection.at(mountpoint) {
            connection.abort()
            stopDaemon()
            let unmounted = await Command(arguments: ["umount", "-l", mountpoint], limitSeconds: 10).run()
            if unmounted.status != 0 {
                _ = await Command(arguments: ["fusermount3", "-uz", mountpoint], limitSeconds: 10).run()
                break
            }
        }
        stopDaemon()
    }

    var isRunning: Bool { daemonProcessID.map { $0 > 1 && isOurs($0) } ?? false }

    private func stopDaemon() {
        guard let daemon = daemonProcessID, daemon > 1, isOurs(daemon) else { return }
        kill(daemon, SIGKILL)
    }

    /// Whether the process is this drive's daemon, which has files of the home open: a pid file can be stale, and its number
    /// that of somebody else, also of another drive's daemon.
    private func isOurs(_ process: pid_t) -> Bool {
        let (descriptors, place) = ("/proc/\(process)/fd", URL(filePath: home).resolvingSymlinksInPath().path)
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
        return numbers.contains { number in
            // Some are closed meanwhile.
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(number)")
            return file?.hasPrefix("\(place)/") ?? false
        }
    }
}

/// Waits for something that has no event of its own, looking every 10 ms.
func waitUntil(_ what: String, seconds: Double, _ condition: () throws -> Bool) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while try !condition() {
        guard Date() < end else { throw Trouble("not within \(seconds) s: \(what)") }
        usleep(10_000)
    }
}

/// Waits for something another process brings about, looking every 20 ms.
func eventually(_ what: String, seconds: Double, _ condition: () async throws -> Bool) async throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while try await !condition() {
        guard Date() < end else { throw Trouble("not within \(seconds) s: \(what)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
