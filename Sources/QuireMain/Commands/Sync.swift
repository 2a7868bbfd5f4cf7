import ArgumentParser
import QuireCommandLine
import QuireCore

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Push and pull until nothing is pending.",
        discussion: """
            Exit code 0: nothing is pending. 2: conflicts or parked errors remain, or deletions are held back. 75: a provider \
            is unreachable, time is up, or the drive is paused.

            Says on a terminal how many files and bytes are done, how fast, and how long the rest takes; elsewhere a line now \
            and then, when it takes long.
            """)

    @OptionGroup var home: HomeOptions

    @Option(help: ArgumentHelp("Give up after this many seconds.", valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Print JSON, one object a line: how far it is, now and then; at the end, how it ended.")
    var json = false

    @Flag(help: "Carry out the deletions that are held back now because so much is missing at once; see quire status.")
    var confirmDeletes = false

    func validate() throws {
        if let timeout, !(timeout >= 0 && timeout < 1e9) { throw ValidationError("--timeout takes 0 or more seconds.") }
    }

    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        let lines = ProgressLines(json: json)
        let outcome = try await drive.caller.call(
            DriveMethods.Sync.self,
            DriveMethods.Sync.Parameters(
                timeoutSeconds: timeout, confirmDeletes: confirmDeletes ? true : nil, progress: true)
        ) { lines.show($0) }
        lines.end()
        if json { try Output.json(outcome) }
        for message in outcome.messages { Output.message(message) }
        for problem in outcome.errors { Output.message("\(problem.path.path): \(problem.message)") }
        if let more = outcome.errorsMore { Output.message("and \(more) more errors") }
        for held in outcome.held ?? [] { held.words.forEach { Output.message($0) } }
        if let message = Self.summary(outcome) { Output.message(message) }
        let code = Self.exitCode(outcome.end)
        if code != 0 { throw ExitCode(code) }
    }

    static func exitCode(_ end: SyncReport.End) -> Int32 {
        switch end {
        case .clean: 0
        case .unresolved, .deletesHeld: 2
        case .unreachable, .timedOut, .paused: 75
        }
    }

    /// What is said at the end; nil when all is well.
    static func summary(_ outcome: SyncReport) -> String? {
        let pending = "pending: \(StatusText.pending(outcome.pending))"
        return switch outcome.end {
        case .clean: nil
        case .unresolved:
            "\(outcome.conflicts) conflicts and \(outcome.errors.count + (outcome.errorsMore ?? 0)) parked errors remain; see "
                + "`quire status`"
        case .deletesHeld:
            outcome.held == nil
                ? "deletions are held back because so much is missing at once; `quire sync --confirm-deletes` carries them out"
                : "deletions are held back because so much is missing at once"
        case .unreachable: "a provider is unreachable; \(pending)"
        case .timedOut: "time is up; \(pending)"
        case .paused: "the drive is paused; \(pending)"
        }
    }
}
