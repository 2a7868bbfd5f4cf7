import Foundation
import Glibc

/// A fresh directory with the drives of one test; everything is unmounted, stopped and removed at the end, whatever happened.
final class Workspace: @unchecked Sendable {
    let root: String
    // Guarded by `lock`.
    private var drives: [Drive] = []
    private var mounts: [String] = []
    private let lock = NSLock()

    private init(root: String) { self.root = root }

    /// Runs `body` with a workspace; on failure the tails of the daemons' logs are added to the error.
    static func use<Result>(in parent: String = Machine.scratchRoot, _ body: (Workspace) async throws -> Result)
        async throws -> Result
    {
        _ = FuseConnection.controlIsMounted
        var template = Array("\(parent)/quire-e2e-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("no directory below \(parent): errno \(errno)") }
        let workspace = Workspace(
            root: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
        do {
            let result = try await body(workspace)
            try await workspace.close()
            return result
        } catch {
            let logs = await workspace.states() + workspace.logs()
            try? await workspace.close()
            throw Trouble("\(error)\(logs)")
        }
    }

    /// A new drive with a home and an empty mountpoint of its own; not mounted yet.
    /// - Parameter provider: an absolute path; its folder provider becomes the default. Without, the embedded one is.
    func drive(_ name: String = "one", provider: String? = nil, binary: String = Machine.quire) async throws -> Drive {
        let drive = Drive(name: name, home: "\(root)/\(name).home", mountpoint: "\(root)/\(name)", binary: binary)
        lock.withLock { drives.append(drive) }
        try FileManager.default.createDirectory(atPath: drive.mountpoint, withIntermediateDirectories: true)
        if let provider {
            try FileManager.default.createDirectory(atPath: provider, withIntermediateDirectories: true)
            try await drive.quire("provider", "add", "shared", "folder:\(provider)", "--default").require(0)
        }
        return drive
    }

    /// A drive that is mounted.
    func mounted(_ name: String = "one", provider: String? = nil) async throws -> Drive {
        let drive = try await drive(name, provider: provider)
        try await drive.mount()
        return drive
    }

    /// A new directory beside the drives.
    func directory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
        return "\(root)/\(name)"
    }

    /// Mounts another file system for the length of the test; needs root.
    func mountFilesystem(_ type: String, options: String = "", at name: String) async throws -> String {
        let path = try directory(name)
        var arguments = ["mount", "-t", type]
        if !options.isEmpty { arguments += ["-o", options] }
        try await Command(arguments: arguments + ["quire-test", path]).succeed()
        lock.withLock { mounts.append(path) }
        return path
    }

    /// Runs a shell script in the workspace, outside every mount.
    @discardableResult
    func sh(_ script: String, limitSeconds: Double = 60) async throws -> String {
        try await Command(
            arguments: ["bash", "-euo", "pipefail", "-c", script], directory: root, limitSeconds: limitSeconds,
            abortingMountsAt: lock.withLock { drives.map(\.mountpoint) }
        ).succeed()
    }

    /// What drives that still answer say of themselves: why something waits, for one.
    private func states() async -> String {
        var text = ""
        for drive in lock.withLock({ drives }) where drive.isRunning {
            text += "\n--- \(drive.name): quire status\n\(await drive.quire("status", limitSeconds: 10).output)"
        }
        return text
    }

    private func logs() -> String {
        lock.withLock { drives }.map { drive in
            let log = (try? String(contentsOfFile: "\(drive.home)/daemon.log", encoding: .utf8)) ?? ""
            return "\n--- \(drive.name): end of daemon.log\n\(log.suffix(3000))"
        }.joined()
    }

    /// `QUIRE_LOGS`: a directory that all that daemons log is kept in, for who looks for what happened.
    static var keptLogs: String? { Machine.environment("QUIRE_LOGS") }

    private func keepLogs() throws {
        guard let directory = Self.keptLogs else { return }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let name = root.split(separator: "/").last ?? ""
        for drive in lock.withLock({ drives }) where FileManager.default.fileExists(atPath: "\(drive.home)/daemon.log")
        {
            try FileManager.default.copyItem(
                atPath: "\(drive.home)/daemon.log", toPath: "\(directory)/\(name).\(drive.name).log")
        }
    }

    private func close() async throws {
        for drive in lock.withLock({ drives }).reversed() { await drive.close() }
        try keepLogs()
        for path in lock.withLock({ mounts }).reversed() {
            _ = await Command(arguments: ["umount", "-l", path], limitSeconds: 10).run()
        }
        // Never through a mount that could not be ended.
        try await Command(arguments: ["rm", "-rf", "--one-file-system", root], limitSeconds: 120).succeed()
    }
}

/// What went wrong, in words.
struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Command.Outcome {
    /// The outcome itself when it ended with one of `statuses`; throws otherwise.
    @discardableResult
    func require(_ statuses: Int32...) throws -> Command.Outcome {
        guard !timedOut, statuses.contains(status) else {
            throw Trouble("\(timedOut ? "TIMED OUT" : "exit \(status), wanted \(statuses)")\n\(output)\n\(errors)")
        }
        return self
    }
}
