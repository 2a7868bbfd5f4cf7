import ArgumentParser
import QuireCommandLine
import QuireCore

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Compare the store with the index, and with the provider.",
        discussion:
            "Prints each difference. Exit code 1 when there is one that was not repaired. Works with the daemon stopped."
    )

    @OptionGroup var home: HomeOptions

    @Flag(help: "Bring the index into line with the store. Nothing in the store is changed.")
    var repair = false

    @Flag(help: "Compare with the provider's listing, too.")
    var provider = false

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        let parameters = DriveMethods.Check.Parameters(repair: repair, provider: provider)
        let result = try await drive.caller.call(DriveMethods.Check.self, parameters) { differences in
            for difference in differences {
                let mended = difference.repaired ? " (repaired)" : ""
                Output.line("\(difference.kind.rawValue): \(difference.path.path): \(difference.message)\(mended)")
            }
        }
        Output.line("\(result.items) items, \(result.differences) differences, \(result.repaired) repaired")
        if result.differences > result.repaired { throw ExitCode(1) }
    }
}
