import ArgumentParser
import QuireCommandLine
import QuireCore

struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Find documents by what is known of them.",
        discussion: """
            Prints paths relative to the drive's root. EXPRESSION is a shell pattern for the name (`*.txt`), or a condition: \
            `name == "report*"c && size > 1MB && (dirty == true || hasConflicts == true)`; Documentation/Queries.md has all of \
            it. What was saved before the query starts is found, whether its content is here or not. Where the configuration says \
            `content = true`, `content == "word"` finds documents by the words of their text, some seconds after they were saved.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "A name pattern, or a condition.")
    var expression: String?

    @Option(
        name: [.customLong("name"), .customLong("name", withSingleDash: true)],
        help: ArgumentHelp("A shell pattern for the item's own name.", valueName: "glob"))
    var name: String?

    @Option(
        name: [.customLong("state"), .customLong("state", withSingleDash: true)],
        help: ArgumentHelp("Only items in this state; may be given several times.", valueName: "state"),
        transform: Find.state)
    var states: [ItemState] = []

    @Option(
        name: [.customLong("onlyin"), .customLong("onlyin", withSingleDash: true)],
        help: ArgumentHelp("Only items below this directory.", valueName: "dir"))
    var directory: String?

    @Option(
        name: .customLong("sort"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Order by this attribute instead of by path, the greatest first after a minus sign (-size); may be given several times.",
            valueName: "attribute"))
    var order: [String] = []

    @Option(help: ArgumentHelp("At most so many, the first in order.", valueName: "number"))
    var limit: Int?

    @Flag(name: [.customLong("count"), .customLong("count", withSingleDash: true)], help: "Print how many there are.")
    var count = false

    @Flag(help: "Print JSON, one object a line, as `status --json PATH` does.")
    var json = false

    @Flag(
        help: """
            Keep running: what is found now and what comes later on lines that begin with +, what changes with ~, what goes \
            with -.
            """)
    var live = false

    @Flag(name: .customShort("0"), help: "End each path with NUL instead of a newline.")
    var null = false

    func validate() throws {
        if live, count || limit != nil || !order.isEmpty {
            throw ValidationError("--live goes with neither --count, --limit nor --sort")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1, not \(limit)") }
    }

    func run() async throws {
        let drive = try await live ? DriveSession.daemon(home) : DriveSession.daemonOrStopped(home)
        let base = try directory.map { WirePath(try drive.paths.path($0)) }
        let (pattern, condition) = try FindExpression.split(expression, name: name)
        let parameters = ItemMethods.Find.Parameters(
            expression: condition, name: pattern.map(FindExpression.wire),
            states: states.isEmpty ? nil : states, directory: base, countOnly: count,
            order: order.isEmpty ? nil : order, limit: limit)
        let (json, null) = (json, null)
        if live {
            return try await Self.follow(parameters, LiveLines(json: json, null: null), drive)
        }
        let result =
            if json {
                try await drive.caller.call(ItemMethods.Find.self, parameters) { items in
                    // A status always has a form in JSON: it came as such.
                    for item in items { try? Output.json(item) }
                }
            } else {
                try await drive.caller.call(QueryMethods.Paths.self, parameters) { paths in
                    Output.write(paths.flatMap { FindLine.bytes($0.path, null: null) })
                }
            }
        if count { Output.line("\(result.count)") }
    }

    /// Tells what is found until the call ends. Where the index is built anew, it is asked again.
    private static func follow(
        _ query: ItemMethods.Find.Parameters, _ lines: LiveLines, _ drive: DriveSession
    ) async throws {
        while true {
            do throws(QuireError) {
                _ = try await drive.caller.call(
                    QueryMethods.Live.self, .init(query: query, batchingMilliseconds: 0)
                ) { lines.show($0) }
                return
            } catch {
                guard error.code == .temporary, lines.gatherAnew() else { throw error }
                Output.message("\(error.message). Only what differs is told now")
            }
        }
    }

    /// The state of that name.
    static func state(_ text: String) throws(QuireError) -> ItemState {
        guard let state = ItemState(rawValue: text) else {
            let known = ItemState.allCases.map(\.rawValue).joined(separator: ", ")
            throw QuireError(.usage, "\"\(text)\" is not a state", remedy: "States are: \(known)")
        }
        return state
    }
}
