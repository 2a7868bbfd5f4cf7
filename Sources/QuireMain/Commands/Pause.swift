import ArgumentParser
import QuireCommandLine
import QuireCore

struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Send nothing to providers for a while.",
        discussion: """
            Uploads wait, and providers are not asked what changed; of content only what a program opens, or `quire download` \
            and `quire pin` name, is fetched. What is being transferred for the drive itself is broken off and begun anew \
            afterwards. A pause outlives the daemon, and ends with its time or `quire resume`. Works with the daemon stopped, too.
            """)

    @OptionGroup var home: HomeOptions

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long, as 45m, 2h30m or 1d. Default: until `quire resume`.", valueName: "duration"))
    var duration: String?

    @Flag(help: "Print JSON: until, missing where the pause has no end.")
    var json = false

    func validate() throws { _ = try Self.seconds(duration) }

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        let pause = try await drive.caller.call(DriveMethods.Pause.self, .init(seconds: try Self.seconds(duration)))
        json ? try Output.json(pause) : Output.line(StatusText.pause(pause))
    }

    /// Reads numbers with units s, m, h and d; nil for nil.
    static func seconds(_ text: String?) throws -> Double? {
        guard let text else { return nil }
        var sum = 0.0
        var digits = ""
        for character in text {
            if character.isASCII, character.isNumber || character == "." {
                digits.append(character)
                continue
            }
            guard let number = Double(digits), let unit = units[character] else { throw wrong(text) }
            sum += number * unit
            digits = ""
        }
        guard digits.isEmpty, sum > 0, sum < 1e9 else { throw wrong(text) }
        return sum
    }

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    private static func wrong(_ text: String) -> ValidationError {
        ValidationError("\"\(text)\" is not a duration: write numbers with s, m, h or d, as in 2h30m.")
    }
}

struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Take `pause` back.",
        discussion: "Uploads begin again, and what changed at the providers comes. Works with the daemon stopped, too.")

    @OptionGroup var home: HomeOptions

    func run() async throws {
        _ = try await DriveSession.daemonOrStopped(home).caller.call(DriveMethods.Resume.self)
    }
}
