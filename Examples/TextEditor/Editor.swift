import Foundation
import Quire

/// The window of one document.
@MainActor
final class Editor {
    private let document: GenericTextDocument
    private let terminal: Terminal
    /// Once asked for, it knows how each edit of the text is taken back.
    private let undoManager: UndoManager
    private var caret = Caret()
    /// What was said last, until the next key.
    private var message = ""
    private var mayLeave = false

    init(_ document: GenericTextDocument, _ terminal: Terminal) {
        self.document = document
        self.terminal = terminal
        undoManager = document.undoManager
    }

    /// Shows the document and takes keys until the person leaves.
    func run() async {
        let listening = Task { for await event in document.events { hear(event) } }
        defer { listening.cancel() }
        draw()
        for await key in terminal.keys {
            message = ""
            if case .leave = key, await leave() { return }
            await take(key)
            draw()
        }
    }

    /// What others do to the document.
    private func hear(_ event: DocumentEvent) {
        switch event {
        case .contentsLoaded: message = "Read: it was changed elsewhere"
        case .moved: message = "It is \(document.fileURL.lastPathComponent) now"
        case .deleted: message = "It was deleted elsewhere"
        case .failed(let error): message = "\(error)"
        case .saved: message = "Saved"
        case .stateChanged: break
        }
        draw()
    }

    private func take(_ key: Key) async {
        switch key {
        case .text(let text): edit { caret.insert(text, in: &$0) }
        case .delete: edit { caret.delete(in: &$0) }
        case .undo: edit { _ in undoManager.undo() }
        case .redo: edit { _ in undoManager.redo() }
        case .move(let direction): caret.move(direction, in: document.text)
        case .save: await attempt { try await document.save(to: document.fileURL, for: .overwriting) }
        case .resized, .leave: break
        }
    }

    private func edit(_ change: (inout String) -> Void) {
        guard document.documentState.isDisjoint(with: [.closed, .editingDisabled]) else {
            return message = document.documentState.contains(.closed) ? "It is gone" : "Somebody else is writing it"
        }
        let before = document.text
        var text = before
        change(&text)
        // Each edit is counted by the document: from now on it is unsaved.
        if text != before { document.text = text }
    }

    /// Saves and closes. Where that fails, the second time leaves all the same.
    private func leave() async -> Bool {
        if mayLeave { return true }
        mayLeave = true
        return await attempt { try await document.close() }
    }

    @discardableResult
    private func attempt(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return true
        } catch {
            message = "\(error)"
            return false
        }
    }

    private func draw() {
        terminal.draw(title: "\(document.fileURL.lastPathComponent)  \(standing)", document.text, message, caret)
    }

    private var standing: String {
        let state = document.documentState
        if state.contains(.closed) { return "[closed]" }
        var words = document.hasUnsavedChanges ? ["unsaved"] : ["saved"]
        if state.contains(.editingDisabled) { words.append("others are writing") }
        if state.contains(.inConflict) { words.append("in conflict") }
        if state.contains(.savingError) { words.append("could not be saved") }
        return "[\(words.joined(separator: ", "))]"
    }
}
