import ArgumentParser
import QuireCommandLine
import QuireCore

struct Tag: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tag", abstract: "Add, remove and list the tags of documents.",
        discussion: """
            Tags are found with `quire find 'tags == work'`. File managers see them as the attribute user.xdg.tags. They stay with \
            a document when it is renamed or saved. Other devices have them where the provider is a WebDAV server that keeps \
            properties; elsewhere they stay on this device.
            """,
        subcommands: [TagAdd.self, TagRemove.self, TagList.self])
}

struct TagAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add tags to documents.",
        discussion: "They come after those that a document has; each is there once.")

    @OptionGroup var change: TagChange

    func run() async throws { try await change.run { .init(path: $0, add: $1, remove: []) } }
}

struct TagRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take tags away from documents.",
        discussion: "Tags that a document does not have are passed over.")

    @OptionGroup var change: TagChange

    func run() async throws { try await change.run { .init(path: $0, add: [], remove: $1) } }
}

struct TagList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the tags of documents.",
        discussion: "Of one PATH a tag a line; of several, a line for each with its tags after a colon.")

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @Argument(help: "Documents or directories.")
    var paths: [String]

    private struct Line: Encodable {
        var path: WirePath
        var tags: [String]
    }

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        for path in try drive.targets(paths) {
            let tags = try await drive.caller.call(ItemMethods.Tag.self, .init(path: path)).tags
            if json {
                try Output.json(Line(path: path, tags: tags))
            } else if paths.count == 1 {
                for tag in tags { Output.line(tag) }
            } else {
                Output.line("\(path.path): \(tags.joined(separator: ", "))")
            }
        }
    }
}

/// What `tag add` and `tag remove` take, and do.
struct TagChange: ParsableArguments {
    @OptionGroup var home: HomeOptions

    @Argument(help: "A tag, or several with commas between them.")
    var tags: String

    @Argument(help: "Documents or directories.")
    var paths: [String]

    func run(_ change: (_ path: WirePath, _ tags: [String]) -> ItemMethods.Tag.Parameters) async throws {
        let tags = ItemAttributes.tags(tags)
        guard !tags.isEmpty else { throw QuireError(.usage, "no tag is given") }
        let drive = try await DriveSession.daemonOrStopped(home)
        for path in try drive.targets(paths) {
            _ = try await drive.caller.call(ItemMethods.Tag.self, change(path, tags))
        }
    }
}
