import ArgumentParser
import QuireCommandLine
import QuireCore

struct Limit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Limit how fast content is uploaded and downloaded.",
        discussion: """
            RATE is a number and a unit, as in 2MB/s or "500 kB/s", at least 16 kB/s; `none` takes a limit away. All transfers of \
            the drive together go no faster; those under way follow at once. Without options the limits are printed. Works with \
            the daemon stopped, too.
            """)

    @OptionGroup var home: HomeOptions

    @Option(help: ArgumentHelp("To providers.", valueName: "rate"))
    var up: String?

    @Option(help: ArgumentHelp("From providers.", valueName: "rate"))
    var down: String?

    @Flag(help: "Print JSON: up and down in bytes a second, missing where there is no limit.")
    var json = false

    func validate() throws {
        for rate in [up, down] { _ = try Self.bytes(rate) }
    }

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        let limits = try await drive.caller.call(
            SetupMethods.Limit.self, .init(up: try Self.bytes(up), down: try Self.bytes(down)))
        if json { return try Output.json(limits) }
        Output.line("up    \(Self.text(limits.up))")
        Output.line("down  \(Self.text(limits.down))")
    }

    private static func bytes(_ rate: String?) throws -> Int64? {
        guard let rate else { return nil }
        if rate == "none" { return 0 }
        guard let read = TransferRate.read(rate) else {
            throw ValidationError(
                "\"\(rate)\" is not a rate: write a number and a unit, as in 2MB/s, at least 16 kB/s.")
        }
        return read.bytes
    }

    private static func text(_ bytes: Int64?) -> String {
        bytes.flatMap { $0 > 0 ? TransferRate.text(ByteCount($0)) : nil } ?? "no limit"
    }
}
