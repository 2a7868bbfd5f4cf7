import Foundation
import Quire
import QuireCore

/// Queries that run: what they tell, a line each.
@MainActor
enum RunningQueries {
    private static var queries: [String: MetadataQuery] = [:]

    /// `start ID HOME EXPRESSION…`, `results|stop|pause|resume ID`, `sort ID ATTRIBUTE`, `groups ID ATTRIBUTE`.
    static func obey(_ words: [String]) async {
        let (what, id) = (words[0], words[1])
        if what == "start" { return await start(id, home: words[2], words.dropFirst(3).joined(separator: " ")) }
        guard let query = queries[id] else { return Output.line("no-query", id) }
        switch what {
        case "stop": query.stop()
        case "pause": query.disableUpdates()
        case "resume": query.enableUpdates()
        case "sort": query.sortDescriptors = [.init(words[2], isAscending: false)]
        case "groups":
            let groups = query.groupedResults(byAttribute: words[2]).map { "\($0.value):\($0.results.count)" }
            Output.line("groups", id, groups.joined(separator: " "))
        default: Output.line("results", id, query.results.map(\.path).joined(separator: " "))
        }
    }

    private static func start(_ id: String, home: String, _ expression: String) async {
        guard let drive = try? await Drive.running(home: home) else { return Output.line("no-drive", id) }
        let query = MetadataQuery(drive: drive)
        Output.line("started", id, "\(query.start())")
        query.predicate = MetadataPredicate(expression)
        query.notificationBatchingInterval = .zero
        Output.line("started", id, "\(query.start())")
        queries[id] = query
        let phases = query.phases
        Task {
            // The same document is the same object, whatever happens to it.
            var known: [UInt64: MetadataItem] = [:]
            for await phase in phases {
                switch phase {
                case .started, .progress: break
                case .finishedGathering:
                    for item in query.results { known[item.id] = item }
                    Output.line("gathered", id, "\(query.resultCount)")
                case .failed(let error): Output.line("query-failed", id, Output.describe(error))
                case .updated(let changes):
                    for item in changes.added {
                        known[item.id] = item
                        Output.line("added", id, item.path)
                    }
                    for item in changes.changed {
                        Output.line("changed", id, item.path, "\(known[item.id] === item)")
                    }
                    for item in changes.removed { Output.line("removed", id, item.path, "\(known[item.id] === item)") }
                }
            }
        }
    }

    /// The example of every introduction: a document by this name is opened where there is one, and made where there is none.
    static func document(_ name: String, home: String) async {
        do {
            let drive = try await Drive.running(home: home)
            let query = MetadataQuery(drive: drive)
            query.predicate = .name == name
            query.start()
            for await phase in query.phases {
                if case .finishedGathering = phase { break }
            }
            query.stop()
            let found = query.result(at: 0)?.url
            let container = try await drive.url(forContainer: nil)
            let document = try await GenericTextDocument.open(
                at: found ?? container.appending(path: name), defaultText: "default text")
            Output.line("document", found == nil ? "created" : "opened", document.text)
            try await document.close()
        } catch {
            Output.line("failed", Output.describe(error))
        }
    }
}
