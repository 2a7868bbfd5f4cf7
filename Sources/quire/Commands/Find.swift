import ArgumentParser
import QuireCore

struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find documents by name and state.",
        discussion: """
            Prints paths relative to the drive's root. EXPRESSION is a shell pattern for the name (`*.txt`), or terms joined by \
            &&: `name == "*.txt" && state == dirty`. What was saved before the query starts is found.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "A name pattern, or terms joined by &&.")
    var expression: String?

    @Option(
        name: [.customLong("name"), .customLong("name", withSingleDash: true)],
        help: ArgumentHelp("A shell pattern for the item's own name.", valueName: "glob"))
    var name: String?

    @Option(
        name: [.customLong("state"), .customLong("state", withSingleDash: true)],
        help: ArgumentHelp("Only items in this state; may be given several times.", valueName: "state"),
        transform: FindExpression.state)
    var states: [ItemState] = []

    @Option(
        name: [.customLong("onlyin"), .customLong("onlyin", withSingleDash: true)],
        help: ArgumentHelp("Only items below this directory.", valueName: "dir"))
    var directory: String?

    @Flag(name: [.customLong("count"), .customLong("count", withSingleDash: true)], help: "Print how many there are.")
    var count = false

    @Flag(help: "Print JSON, one object a line, as `status --json PATH` does.")
    var json = false

    @Flag(name: .customShort("0"), help: "End each path with NUL instead of a newline.")
    var null = false

    func run() async throws {
        var terms = try FindExpression(expression ?? "")
        if let name { try terms.add(name: String(decoding: ArgumentBytes.bytes(name), as: UTF8.self)) }
        terms.add(states: states)
        let drive = try await DriveSession.daemonOrStopped(home)
        let base = try directory.map { WirePath(try drive.paths.path($0)) }
        let parameters = ItemMethods.Find.Parameters(
            name: terms.name, states: terms.states, directory: base, countOnly: count)
        let (json, null) = (json, null)
        let result = try await drive.caller.call(ItemMethods.Find.self, parameters) { items in
            for item in items { Self.show(item, json: json, null: null) }
        }
        if count { Output.line("\(result.count)") }
    }

    private static func show(_ item: ItemStatus, json: Bool, null: Bool) {
        // A status always has a form in JSON: it came as such.
        if json { return (try? Output.json(item)) ?? () }
        let bytes = item.path.path.bytes
        Output.write(null ? bytes + [0] : Array((DisplayBytes.escaped(bytes) + "\n").utf8))
    }
}
