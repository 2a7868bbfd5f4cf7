import ArgumentParser
import QuireCommandLine
import QuireCore

struct Info: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show all metadata of documents.",
        discussion: """
            Prints `key = value` lines for each PATH, or JSON: plain names first, then those of Spotlight (kMDItem…, \
            NSMetadataUbiquitousItem…). Never waits for a network or for content, and brings none here.
            """)

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Option(
        name: [.customLong("name"), .customLong("name", withSingleDash: true)],
        help: ArgumentHelp(
            "Only this attribute, by its plain name or Apple's; may be given several times.", valueName: "attribute"))
    var names: [String] = []

    @Argument(help: "Documents or directories.")
    var paths: [String]

    func run() async throws {
        var attributes: [InfoAttribute] = []
        for name in names { attributes.append(try InfoAttribute.named(name)) }
        let drive = try await DriveSession.daemonOrStopped(home)
        let mountpoint = drive.daemon?.mountpoint
        for (index, path) in try drive.targets(paths).enumerated() {
            let info = try await drive.caller.call(ItemMethods.Info.self, ItemMethods.Target(path: path))
            if json {
                try Output.json(
                    InfoJSON(info: info, attributes: names.isEmpty ? nil : attributes, mountpoint: mountpoint))
                continue
            }
            if index > 0, names.isEmpty { Output.line("") }
            Output.line(InfoText.lines(info, names.isEmpty ? InfoAttribute.all : attributes, mountpoint: mountpoint))
        }
    }
}
