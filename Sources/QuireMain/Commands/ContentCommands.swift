import ArgumentParser
import QuireCommandLine
import QuireCore

/// What `download`, `evict`, `pin` and `unpin` share: each path in turn, refusals told, exit code 1 when there was one.
protocol ContentCommand: AsyncParsableCommand {
    associatedtype Method: WireMethod
    where Method.Parameters == ItemMethods.Target, Method.Result == ItemMethods.ContentOutcome

    var home: HomeOptions { get }
    var paths: [String] { get }
}

extension ContentCommand {
    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        var isComplete = true
        for path in try drive.targets(paths) {
            let outcome = try await drive.caller.call(Method.self, ItemMethods.Target(path: path))
            for refusal in outcome.refused { Output.message(refusal.message) }
            if let more = outcome.refusedMore { Output.message("and \(more) more") }
            isComplete = isComplete && outcome.refused.isEmpty
        }
        if !isComplete { throw ExitCode(1) }
    }
}

struct Download: ContentCommand {
    typealias Method = ItemMethods.Download

    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Bring the content of documents here.",
        discussion: "Of a directory: of all documents below it. Returns when it is here.")

    @OptionGroup var home: HomeOptions

    @Argument(help: "Documents or directories.")
    var paths: [String]
}

struct Evict: ContentCommand {
    typealias Method = ItemMethods.Evict

    static let configuration = CommandConfiguration(
        commandName: "evict", abstract: "Free the space of documents that the provider has.",
        discussion: """
            Size, times and names stay; opening a document brings its content back. Documents that are not uploaded, are open, \
            or are pinned keep their content, and are named: ten for each path, and how many more.
            """)

    @OptionGroup var home: HomeOptions

    @Argument(help: "Documents or directories.")
    var paths: [String]
}

struct Pin: ContentCommand {
    typealias Method = ItemMethods.Pin

    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Keep the content of documents here for good.",
        discussion: "Brings it here, and never evicts it until `quire unpin`.")

    @OptionGroup var home: HomeOptions

    @Argument(help: "Documents or directories.")
    var paths: [String]
}

struct Unpin: ContentCommand {
    typealias Method = ItemMethods.Unpin

    static let configuration = CommandConfiguration(
        commandName: "unpin", abstract: "Take `pin` back.", discussion: "The content stays until it is evicted.")

    @OptionGroup var home: HomeOptions

    @Argument(help: "Documents or directories.")
    var paths: [String]
}
