import ArgumentParser
import QuireCommandLine
import QuireCore

struct Coordination: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordination",
        abstract: "Show who holds documents, who waits for whom, and which apps present them.",
        discussion: """
            One line for each claim (held, waiting or asking, its number, access, paths, process, age, and what it waits for), \
            then one for each presenter.
            """)

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Flag(help: "Print again whenever something has changed, until interrupted.")
    var watch = false

    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        var shown: [String]?
        while true {
            let state = try await drive.caller.call(CoordinationMethods.Dump.self)
            let summary = Self.summary(state)
            if summary != shown {
                if shown != nil, !json { Output.line("") }
                try show(state)
            }
            shown = summary
            guard watch else { return }
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    /// All but the ages: what a change is.
    private static func summary(_ state: CoordinationMethods.Dump.Result) -> [String] {
        state.claims.map { "\($0.id) \($0.state) \($0.paths) \($0.waitsFor ?? 0) \($0.asks ?? [])" }
            + (state.presenters ?? []).map {
                "\($0.id) \($0.path.map { "\($0)" } ?? "") \($0.question ?? "") \($0.hung)"
            }
    }

    private func show(_ state: CoordinationMethods.Dump.Result) throws {
        let presenters = state.presenters ?? []
        if json {
            for claim in state.claims { try Output.json(claim) }
            for presenter in presenters { try Output.json(presenter) }
            return
        }
        for claim in state.claims { Output.line(Self.line(claim)) }
        for presenter in presenters { Output.line(Self.line(presenter)) }
        if state.claims.isEmpty, presenters.isEmpty { Output.line("nobody") }
    }

    private static func line(_ claim: CoordinationMethods.Claim) -> String {
        let paths = claim.paths.map(\.path.description).joined(separator: ", ")
        var waits = claim.waitsFor.map { "  waits for #\($0)" } ?? ""
        if claim.state == "asking" {
            let asks = (claim.asks ?? []).map { "presenter \($0)" }.joined(separator: ", ")
            waits = "  asks \(asks.isEmpty ? "programs that write" : asks)"
        }
        return "\(claim.state.padded(to: 9))\("#\(claim.id)".padded(to: 6))\(claim.access.padded(to: 20))\(paths)"
            + process(claim.pid, claim.program) + age(claim.ageSeconds) + waits
    }

    private static func line(_ presenter: CoordinationMethods.Presenter) -> String {
        let path = presenter.path?.path.description ?? "(no item yet)"
        var state = presenter.question.map { "  asked \($0) for #\(presenter.askedBy ?? 0)" } ?? ""
        if presenter.hung { state += ", does not answer" }
        return "\("presents".padded(to: 9))\("\(presenter.id)".padded(to: 6))\("".padded(to: 20))\(path)"
            + process(presenter.pid, presenter.program) + age(presenter.ageSeconds) + state
    }

    private static func process(_ pid: Int32?, _ program: String?) -> String {
        pid.map { "  pid \($0)\(program.map { " (\($0))" } ?? "")" } ?? ""
    }

    private static func age(_ seconds: Double) -> String { "  \((seconds * 10).rounded() / 10) s" }
}
