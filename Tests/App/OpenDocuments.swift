import Foundation
import Quire

/// Documents that the app has open; each prints what happens to it.
@MainActor
final class OpenDocuments {
    private var documents: [String: NamedDocument] = [:]

    func obey(_ words: [String]) {
        let name = words[1]
        let rest = words.dropFirst(2).joined(separator: " ")
        if words[0] == "open" { documents[name] = NamedDocument(name, URL(filePath: rest)) }
        guard let document = documents[name] else { return Output.line("unknown", name) }
        // In its own task: the next line may be for what this waits for.
        Task { await Self.perform(words[0], rest, on: document) }
    }

    private static func perform(_ verb: String, _ rest: String, on document: NamedDocument) async {
        do {
            switch verb {
            case "open": try await document.openShowingProgress()
            case "type": document.type(rest + "\n")
            case "undo": document.undoManager.undo()
            case "save": try await document.autosave()
            case "close": try await document.close()
            case "picture": document.picture = Data(base64Encoded: rest)
            default: return Output.line("unknown", verb)
            }
            Output.line("document", verb, document.name, document.description)
        } catch {
            Output.line("failed", document.name, Output.describe(error))
        }
    }
}

/// A text, in a file or in a package.
final class NamedDocument: Document {
    let name: String
    var picture: Data?
    private var text = ""

    init(_ name: String, _ url: URL) {
        self.name = name
        super.init(fileURL: url)
        autosavingDelay = nil
        let events = events
        Task { for await event in events { Self.tell(event, name) } }
    }

    var description: String {
        "state=\(documentState.rawValue) unsaved=\(hasUnsavedChanges) \(text.replacing("\n", with: "|"))"
    }

    func type(_ text: String) {
        let before = self.text
        self.text = text
        undoManager.registerUndo(withTarget: self) { $0.type(before) }
    }

    /// Opens and prints what progress there was: how many steps, and the first and the last that was not all.
    func openShowingProgress() async throws {
        let watching = Task { () -> [Int64] in
            var seen: [Int64] = []
            while !Task.isCancelled {
                if let completed = progress?.completedUnitCount, completed != seen.last { seen.append(completed) }
                await Task.yield()
            }
            return seen
        }
        defer { watching.cancel() }
        try await open()
        watching.cancel()
        let seen = await watching.value
        if !seen.isEmpty { Output.line("progress", name, "\(seen == seen.sorted())", "\(seen.first ?? -1)") }
    }

    override func contents(forType typeName: String?) throws -> FileWrapper {
        let file = FileWrapper(regularFileWithContents: Data(text.utf8))
        return typeName == "bundle" ? FileWrapper(directoryWithFileWrappers: ["text": file]) : file
    }

    override func load(fromContents contents: FileWrapper, ofType typeName: String?) throws {
        let file = contents.isDirectory ? contents["text"] : contents
        text = String(decoding: file?.regularFileContents?.prefix(100) ?? Data(), as: UTF8.self)
    }

    override func fileAttributesToWrite(
        to url: URL, for saveOperation: DocumentSaveOperation
    ) throws -> DocumentAttributes {
        DocumentAttributes(thumbnailDictionary: picture.map { [.xxLarge: $0] } ?? [:])
    }

    private static func tell(_ event: DocumentEvent, _ name: String) {
        switch event {
        case .stateChanged(let state): Output.line("event", name, "state", "\(state.rawValue)")
        case .contentsLoaded: Output.line("event", name, "loaded")
        case .saved: Output.line("event", name, "saved")
        case .moved: Output.line("event", name, "moved")
        case .deleted: Output.line("event", name, "deleted")
        case .failed(let error): Output.line("event", name, "failed", Output.describe(error))
        }
    }
}
