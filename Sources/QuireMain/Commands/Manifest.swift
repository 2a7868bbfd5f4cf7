import ArgumentParser
import QuireCore

struct Manifest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest", abstract: "Print checksums that `sha256sum -c` reads.",
        discussion: """
            One line for each file below DIR (default: the current directory where it is on the drive, else the whole drive). \
            Paths are relative to the current directory where DIR lies in it, else to the drive's root: check them there. Content that \
            is not here is not fetched where its checksum is known.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "A directory on the drive.")
    var directory: String?

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        let start = try directory.map { try drive.paths.path($0) } ?? drive.paths.workingPath ?? .root
        let base = drive.paths.workingPath.flatMap { start.isInside($0) ? $0 : nil } ?? .root
        let writer = try ManifestWriter(root: drive.paths.mountpoint ?? drive.location.store, base: base)
        _ = try await drive.caller.call(
            ItemMethods.Manifest.self, ItemMethods.Manifest.Parameters(directory: WirePath(start))
        ) { entries in
            for entry in entries { writer.write(entry) }
        }
        if writer.hasFailed { throw ExitCode(1) }
    }
}
