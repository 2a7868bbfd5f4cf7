import ArgumentParser
import QuireCore

struct Coordination: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who holds documents and who waits.",
        discussion: "One line for each claim: held or waiting, its access, its paths, the process and how long.")

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        for claim in try await drive.caller.call(CoordinationMethods.Dump.self).claims {
            if json {
                try Output.json(claim)
                continue
            }
            let paths = claim.paths.map(\.path.description).joined(separator: ", ")
            let process = claim.pid.map { "  pid \($0)" } ?? ""
            let age = (claim.ageSeconds * 10).rounded() / 10
            Output.line("\(claim.state.padded(to: 9))\(claim.access.padded(to: 20))\(paths)\(process)  \(age) s")
        }
    }
}
