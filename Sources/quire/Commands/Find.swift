import ArgumentParser
import QuireCore

struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find documents by what is known of them.",
        discussion: """
            Prints paths relative to the drive's root. EXPRESSION is a shell pattern for the name (`*.txt`), or a condition: \
            `name == "report*"c && size > 1MB && (dirty == true || hasConflicts == true)`; Documentation/Queries.md has all of \
            it. What was saved before the query starts is found, whether its content is here or not.
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
        let (pattern, condition) = try Self.split(expression, name: name)
        let parameters = ItemMethods.Find.Parameters(
            expression: condition, name: pattern.map { String(decoding: ArgumentBytes.bytes($0), as: UTF8.self) },
            states: states.isEmpty ? nil : states, directory: base, countOnly: count,
            order: order.isEmpty ? nil : order, limit: limit)
        let (json, null) = (json, null)
        if live {
            _ = try await drive.caller.call(
                QueryMethods.Live.self, .init(query: parameters, batchingMilliseconds: 0)
            ) { LiveLines(json: json, null: null).show($0) }
            return
        }
        let result = try await drive.caller.call(ItemMethods.Find.self, parameters) { items in
            for item in items { Self.show(item, json: json, null: null) }
        }
        if count { Output.line("\(result.count)") }
    }

    /// Whether the argument is a pattern for the name or a condition, which has an operator in it.
    static func split(_ expression: String?, name: String?) throws(QuireError) -> (pattern: String?, condition: String?)
    {
        guard let expression, !expression.allSatisfy(\.isWhitespace) else { return (name, nil) }
        if expression.contains(where: { "=<>!&|(".contains($0) }) { return (name, expression) }
        guard name == nil else { throw QuireError(.usage, "two patterns for the name", remedy: "Give one") }
        return (expression, nil)
    }

    /// The state of that name.
    static func state(_ text: String) throws(QuireError) -> ItemState {
        guard let state = ItemState(rawValue: text) else {
            let known = ItemState.allCases.map(\.rawValue).joined(separator: ", ")
            throw QuireError(.usage, "\"\(text)\" is not a state", remedy: "States are: \(known)")
        }
        return state
    }

    private static func show(_ item: ItemStatus, json: Bool, null: Bool) {
        // A status always has a form in JSON: it came as such.
        if json { return (try? Output.json(item)) ?? () }
        let bytes = item.path.path.bytes
        Output.write(null ? bytes + [0] : Array((DisplayBytes.escaped(bytes) + "\n").utf8))
    }
}
