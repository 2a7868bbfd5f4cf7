import ArgumentParser
import QuireCommandLine
import QuireCore

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how the drive stands, or how documents do.",
        discussion: """
            Without PATH: where the drive is, which providers keep it, what waits, conflicts and errors. With PATH: one word \
            for each: current, dirty, uploading, dataless, partial, downloading, conflict, error or local-only; and below it \
            what the document waits for, and why. Works with the daemon stopped.

            With --driver: how many requests of each kind programs made of the mounted drive, and within which time half of \
            them and 99 of 100 were answered; what waits, what is cached, and whether reads and writes stay in the kernel.
            """)

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON: one object, or one a line with several paths.")
    var json = false

    @Flag(help: "Show what the file system driver does.")
    var driver = false

    @Argument(help: "Documents or directories.")
    var paths: [String] = []

    func validate() throws {
        guard !driver || paths.isEmpty else { throw ValidationError("--driver takes no PATH") }
    }

    func run() async throws {
        if driver {
            let status = try await DriveSession.daemon(home).caller.call(DriveMethods.Driver.self)
            return json ? try Output.json(status) : Output.line(DriverStatusText.lines(status))
        }
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
