import ArgumentParser
import QuireCore

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how the drive stands, or how documents do.",
        discussion: """
            Without PATH: where the drive is, which providers keep it, what waits, conflicts and errors. With PATH: one word \
            for each: current, dirty, uploading, dataless, partial, downloading, conflict, error or local-only. Works with \
            the daemon stopped.
            """)

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON: one object, or one a line with several paths.")
    var json = false

    @Argument(help: "Documents or directories.")
    var paths: [String] = []

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        guard !paths.isEmpty else {
            let status = try await drive.caller.call(DriveMethods.Status.self)
            return json ? try Output.json(status) : Output.line(StatusText.drive(status))
        }
        for path in try drive.targets(paths) {
            let status = try await drive.caller.call(ItemMethods.PathStatus.self, ItemMethods.Target(path: path))
            json ? try Output.json(status) : Output.line(StatusText.item(status))
        }
    }
}
