import ArgumentParser
import QuireCommandLine
import QuireCore

/// The program: `quire`.
struct QuireCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quire",
        abstract: "A drive folder for documents.",
        discussion: """
            `quire mount` shows your drive at ~/Drive as ordinary files. Whatever any program saves there is kept by the \
            drive's provider within seconds, and arrives on your other devices.

            PATH is a path on the mount, or one relative to the drive's root. --home DIR is accepted before or after the \
            subcommand. Exit codes: 0 done, 2 conflicts or parked errors remain, 64 usage, 66 no such item, \
            69 unavailable, 75 try again later, 77 not allowed.
            """,
        version: Version.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Drive",
                subcommands: [
                    Mount.self, Unmount.self, Status.self, Sync.self, Pause.self, Resume.self, Check.self,
                ]),
            CommandGroup(
                name: "Documents",
                subcommands: [
                    Find.self, Info.self, Tag.self, Download.self, Evict.self, Pin.self, Unpin.self, Manifest.self,
                    Thumbnail.self,
                ]),
            CommandGroup(
                name: "Versions",
                subcommands: [
                    Versions.self, Restore.self, Conflicts.self, Resolve.self,
                ]),
            CommandGroup(
                name: "Setup",
                subcommands: [
                    Provider.self, Container.self, Limit.self, Coordination.self,
                ]),
        ])

    @OptionGroup var home: HomeOptions

    /// Runs the process: parses its arguments, runs the subcommand, returns the exit code.
    static func run(arguments: [String]) async -> Int32 {
        do {
            var command = try parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            try Output.requireTaken()
            return 0
        } catch let error as QuireError {
            Output.error(error)
            return error.code.exitCode
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            exit(withError: error)
        }
    }
}

/// This program's version.
enum Version {
    static let text = "0.1.0"
    /// Of the control socket's messages.
    static let protocolNumber = 1
}
