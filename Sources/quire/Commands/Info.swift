import ArgumentParser
import QuireCore

struct Info: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show all metadata of documents.",
        discussion: "Prints `key = value` lines for each PATH, or JSON. Never waits for a network or for content.")

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Argument(help: "Documents or directories.")
    var paths: [String]

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        for (index, path) in try drive.targets(paths).enumerated() {
            let info = try await drive.caller.call(ItemMethods.Info.self, ItemMethods.Target(path: path))
            if json {
                try Output.json(info)
            } else {
                if index > 0 { Output.line("") }
                Output.line(InfoText.lines(info))
            }
        }
    }
}
