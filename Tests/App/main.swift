import Foundation
import Quire

// An app that coordinates, for the end-to-end tests: it does what lines on its standard input say, and prints what happens.
//
//   coordinator ID [presenter=P] [purpose=TEXT]     access NAME async|prepare|url|queue|sync COORDINATOR KIND:PATH…
//   tell NAME end|fail|write TEXT|remove|show|move NEWNAME|nest read|write|other     cancel COORDINATOR
//   present ID PATH|-     place ID PATH     unpresent ID     edit ID TEXT     answer ID yielding|refusing|silent|other
//   versions|replace|resolve|remove|remove-current|remove-others|values|details PATH
//   document open|type|save|close|picture|undo ID [PATH|TEXT]     add PATH CONTENTS     discard|nonlocal|download PATH
//   query start|results|stop|pause|resume|sort|groups ID [HOME EXPRESSION…|ATTRIBUTE]     find-or-create HOME NAME
//   ubiquity start|evict|in|out PATH [DESTINATION]
//   crowd N PATH: N accesses at once, each of which adds a line by reading and writing
//   follow PATH plain|coordinated LAST: reads the number in a document whenever it changes
//   edit-much NAME N PATH plain|coordinated     count-edits N PATH NAME…
//   container HOME [ID]   drive URL         attributes COORDINATOR PATH

var coordinators: [String: FileCoordinator] = [:]
var presenters: [String: RecordingPresenter] = [:]
var accesses: [String: RunningAccess] = [:]
let documents = OpenDocuments()
var followers: [Following] = []
let queue = OperationQueue()

func intent(_ word: String) -> FileAccessIntent? {
    guard let colon = word.firstIndex(of: ":") else { return nil }
    let options = word[..<colon].split(separator: ",").map(String.init)
    let path = String(word[word.index(after: colon)...])
    let url = path.hasPrefix("/") ? URL(filePath: path) : URL(string: path)
    guard let url else { return nil }
    let readings: [String: FileCoordinator.ReadingOptions] = [
        "withoutChanges": .withoutChanges, "resolvesSymbolicLink": .resolvesSymbolicLink,
        "immediatelyAvailableMetadataOnly": .immediatelyAvailableMetadataOnly, "forUploading": .forUploading,
    ]
    let writings: [String: FileCoordinator.WritingOptions] = [
        "forDeleting": .forDeleting, "forMoving": .forMoving, "forMerging": .forMerging,
        "forReplacing": .forReplacing, "contentIndependentMetadataOnly": .contentIndependentMetadataOnly,
    ]
    if options.first == "read" {
        let chosen = options.dropFirst().compactMap { readings[$0] }
        return .readingIntent(with: url, options: FileCoordinator.ReadingOptions(chosen))
    }
    let chosen = options.dropFirst().compactMap { writings[$0] }
    return .writingIntent(with: url, options: FileCoordinator.WritingOptions(chosen))
}

/// The synchronous form, on a thread of its own: granted, and over at once.
func synchronous(_ name: String, _ intent: FileAccessIntent, _ coordinator: FileCoordinator) {
    Thread.detachNewThread {
        let thread = Thread.current
        do {
            try coordinator.coordinate(readingItemAt: intent.url) { url in
                Output.line("granted", name, url.path)
                Output.line("on-caller", "\(thread === Thread.current)")
                let nested: String = try coordinator.coordinate(writingItemAt: url) { _ in "nested" }
                Output.line(nested)
            }
            Output.line("ended", name)
        } catch {
            Output.line("failed", name, Output.describe(error))
        }
    }
}

@MainActor
func begin(_ words: [String]) {
    let access = RunningAccess(name: words[1])
    accesses[words[1]] = access
    let coordinator = coordinators[words[3]] ?? FileCoordinator()
    let intents = words.dropFirst(4).compactMap(intent)
    switch words[2] {
    case "queue": access.run(intents, coordinator, queue: queue)
    case "sync": synchronous(words[1], intents[0], coordinator)
    default: Task { await access.run(intents, coordinator, form: words[2]) }
    }
}

@MainActor
func makeCoordinator(_ words: [String]) {
    func value(_ name: String) -> String? {
        words.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    let coordinator = FileCoordinator(filePresenter: value("presenter").flatMap { presenters[$0] })
    coordinators[words[1]] = coordinator
    guard let purpose = value("purpose") else { return }
    do {
        try coordinator.setPurposeIdentifier(purpose)
    } catch {
        Output.line("refused", words[1], Output.describe(error))
    }
}

@MainActor
func present(_ words: [String]) async {
    let presenter = RecordingPresenter(name: words[1], url: words[2] == "-" ? nil : URL(filePath: words[2]))
    presenters[words[1]] = presenter
    do {
        try await FileCoordinator.addFilePresenter(presenter)
        Output.line("presenting", words[1], "\(FileCoordinator.filePresenters.count)")
    } catch {
        Output.line("failed", words[1], Output.describe(error))
    }
}

@MainActor
func follow(_ words: [String]) async {
    let presenter = Following(
        URL(filePath: words[1]), isCoordinated: words[2] == "coordinated", last: Int(words[3]) ?? 0)
    followers.append(presenter)
    do {
        try await FileCoordinator.addFilePresenter(presenter)
        Output.line("following")
    } catch {
        Output.line("failed", Output.describe(error))
    }
}

@MainActor
func obey(_ words: [String]) async {
    switch words[0] {
    case "coordinator": makeCoordinator(words)
    case "access": begin(words)
    case "tell": accesses[words[1]]?.tell(Array(words.dropFirst(2)))
    case "cancel": coordinators[words[1]]?.cancel()
    case "present": await present(words)
    case "place": presenters[words[1]]?.presentedItemURL = URL(filePath: words[2])
    case "unpresent": if let presenter = presenters[words[1]] { FileCoordinator.removeFilePresenter(presenter) }
    case "edit": presenters[words[1]]?.edit(words.dropFirst(2).joined(separator: " ") + "\n")
    case "answer": presenters[words[1]]?.answer(.init(rawValue: words[2]) ?? .yielding)
    case "ubiquity": await Ubiquity.obey(Array(words.dropFirst()))
    case "document": documents.obey(Array(words.dropFirst()))
    case "add": await Versions.add(URL(filePath: words[2]), to: URL(filePath: words[1]))
    case "versions", "replace", "resolve", "remove", "remove-current", "remove-others", "remove-conflicts", "values",
        "details", "discard", "nonlocal", "download", "move":
        await Versions.obey(words[0], URL(filePath: words[1]))
    case "query": await RunningQueries.obey(Array(words.dropFirst()))
    case "find-or-create": await RunningQueries.document(words[2], home: words[1])
    case "crowd": Task.detached { await Crowd.run(Int(words[1]) ?? 0, URL(filePath: words[2])) }
    case "follow": await follow(words)
    case "edit-much":
        Task.detached {
            await Edits.run(
                words[1], Int(words[2]) ?? 0, URL(filePath: words[3]), isCoordinated: words[4] == "coordinated")
        }
    case "count-edits": await Edits.count(Int(words[1]) ?? 0, of: Array(words[3...]), URL(filePath: words[2]))
    case "container":
        let url = await Drive.url(forContainer: words.count > 2 ? words[2] : nil, home: words[1])
        Output.line("container", url?.path ?? "none")
    case "drive":
        do {
            let drive = try await Drive.containing(URL(string: words[1]) ?? URL(filePath: words[1]))
            Output.line("drive", drive.home)
        } catch {
            Output.line("refused", "drive", Output.describe(error))
        }
    case "attributes":
        do {
            try await coordinators[words[1]]?.item(
                at: URL(filePath: words[2]), didChangeUbiquityAttributes: [.ubiquitousItemIsUploadedKey])
        } catch {
            Output.line("refused", "attributes", Output.describe(error))
        }
    default: Output.line("unknown", words.joined(separator: " "))
    }
}

let (lines, line) = AsyncStream.makeStream(of: String.self)
// Waiting for the next line must not keep accesses from going on.
Thread.detachNewThread {
    while let text = readLine() { line.yield(text) }
    line.finish()
}
for await text in lines { await obey(text.split(separator: " ").map(String.init)) }
