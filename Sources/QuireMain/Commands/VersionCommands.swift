import ArgumentParser
import QuireCommandLine
import QuireCore
import Synchronization

struct Versions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "List the earlier versions of a document.",
        discussion: """
            Newest first: the version's name, its time and size; those that were kept here, then those that the provider keeps. \
            `quire restore` takes the name.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "A document.")
    var path: String

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        let target = ItemMethods.Target(path: WirePath(try drive.paths.path(path)))
        let kept = try await drive.caller.call(VersionMethods.Versions.self, target) { Self.tell($0) }
        Self.tell(kept.versions)
        // Only a daemon knows the provider.
        guard drive.daemon != nil else { return }
        let others = try await drive.caller.call(VersionMethods.NonlocalVersions.self, target) {
            Self.tell($0, "  at the provider")
        }
        Self.tell(others.versions, "  at the provider")
    }

    private static func tell(_ versions: [VersionMethods.Version], _ place: String = "") {
        for version in versions { Output.line("\(version.name)  \(version.date)  \(version.size)\(place)") }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make an earlier version a document's content.",
        discussion: "What the document holds now becomes a kept version, so nothing is lost.")

    @OptionGroup var home: HomeOptions

    @Argument(help: "A document.")
    var path: String

    @Argument(help: "A version's name, as `quire versions` prints it.")
    var version: String

    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        let path = WirePath(try drive.paths.path(path))
        _ = try await drive.caller.call(
            VersionMethods.Restore.self, VersionMethods.Restore.Parameters(path: path, version: version))
    }
}

struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts", abstract: "List conflict copies.",
        discussion: """
            A conflict copy holds what another device, or this one, saved at the same time. Each line is the copy's path. \
            `quire resolve` ends a conflict; so does deleting or renaming the copy.
            """)

    @OptionGroup var home: HomeOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    func run() async throws {
        let drive = try await DriveSession.daemonOrStopped(home)
        let json = json
        _ = try await drive.caller.call(VersionMethods.Conflicts.self, WireNothing()) { conflicts in
            for conflict in conflicts {
                // It came as JSON, so it has a form in it.
                if json { try? Output.json(conflict) } else { Output.line(conflict.path.path.description) }
            }
        }
    }
}

struct Resolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "End a document's conflict.",
        discussion: """
            --keep names the versions to keep: `current` for the document as it is, a device's name, or a copy's file name. \
            When `current` is not among them, the first named becomes the document. The others are removed, and can be had back with \
            `quire versions` and `quire restore`.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "The document, or one of its conflict copies.")
    var path: String

    @Option(parsing: .upToNextOption, help: ArgumentHelp("Versions to keep.", valueName: "version"))
    var keep: [String]

    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        let path = WirePath(try drive.paths.path(path))
        let result = try await drive.caller.call(
            VersionMethods.Resolve.self, VersionMethods.Resolve.Parameters(path: path, keep: keep))
        for removed in result.removed { Output.message("removed \(removed.path)") }
    }
}
