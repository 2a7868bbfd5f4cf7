import Foundation
import Quire

final class Counter: Document {
    private(set) var count = 0

    func increase() {
        count += 1
        updateChangeCount(.done)
    }

    override func contents(forType typeName: String?) throws -> Data { Data("\(count)\n".utf8) }

    override func load(fromContents contents: Data, ofType typeName: String?) throws {
        guard let count = Int(String(decoding: contents, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw CocoaError(.fileReadCorruptFile) }
        self.count = count
    }
}

@MainActor
func count(_ url: URL) async throws {
    let counter = Counter(fileURL: url)
    try await counter.open()
    counter.increase()
    try await counter.close()
}

@MainActor
func make(_ url: URL) async throws {
    let counter = Counter(fileURL: url)
    try await counter.save(to: url, for: .creating)
    try await counter.close()
}

@MainActor
func write(_ url: URL) async throws -> GenericTextDocument {
    let note = try await GenericTextDocument.open(at: url, defaultText: "Dear …\n")
    note.text += "see you soon\n"
    return note
}

final class Album: Document {
    var pictures: [String: Data] = [:]

    override func contents(forType typeName: String?) throws -> FileWrapper {
        FileWrapper(directoryWithFileWrappers: pictures.mapValues { FileWrapper(regularFileWithContents: $0) })
    }

    override func load(fromContents contents: FileWrapper, ofType typeName: String?) throws {
        pictures = contents.fileWrappers?.compactMapValues(\.regularFileContents) ?? [:]
    }

    override func fileAttributesToWrite(
        to url: URL, for saveOperation: DocumentSaveOperation
    ) throws -> DocumentAttributes {
        DocumentAttributes(thumbnailDictionary: pictures["cover.png"].map { [.xxLarge: $0] } ?? [:])
    }
}

@MainActor
func mistake(_ url: URL) async throws -> Bool {
    let note = try await GenericTextDocument.open(at: url)
    let undoManager = note.undoManager
    note.text += "by mistake"
    undoManager.setActionName("Typing")
    undoManager.undo()
    let isUnsaved = note.hasUnsavedChanges
    try await note.close()
    return isUnsaved
}

@MainActor
func follow(_ note: GenericTextDocument) async {
    for await event in note.events {
        switch event {
        case .contentsLoaded: print("changed elsewhere: \(note.text)")
        case .moved: print("it is \(note.fileURL.lastPathComponent) now")
        case .deleted: return print("it was deleted")
        case .failed(let error): print(error)
        case .stateChanged(let state): print(state.contains(.editingDisabled) ? "somebody writes" : "go on")
        case .saved: break
        }
    }
}
