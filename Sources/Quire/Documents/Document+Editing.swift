import Foundation

extension Document {
    /// Counts an edit; to be called with each, after it. Not for edits that an `undoManager` counts.
    public func updateChangeCount(_ change: DocumentChangeKind) {
        alter { $0.edited(change) }
        if hasUnsavedChanges { scheduleAutosave() }
    }

    /// For `updateChangeCount(withChangeCountToken:)`: what a save that begins now covers.
    public var changeCountToken: DocumentChangeToken { machine.changeCountToken }

    /// Counts as saved what was done until the token was taken; for subclasses that save by other ways.
    public func updateChangeCount(withChangeCountToken token: DocumentChangeToken) {
        alter { $0.edited(covering: token) }
    }

    /// Takes edits back and makes them again. Made when it is first asked for, or set; from then on it counts the edits that
    /// are registered with it: a group is an edit, undoing back to what was saved leaves nothing unsaved. What is loaded from
    /// the file ends what it remembers.
    public var undoManager: UndoManager {
        get {
            if let undoing { return undoing }
            let made = UndoManager()
            self.undoManager = made
            return made
        }
        set {
            undoing?.observer = nil
            undoing = newValue
            newValue.observer = { [weak self] step in
                switch step {
                case .done: self?.updateChangeCount(.done)
                case .undone: self?.updateChangeCount(.undone)
                case .redone: self?.updateChangeCount(.redone)
                }
            }
        }
    }

    /// Loads what was read; nothing of that is an edit.
    func take(_ contents: FileWrapper) throws {
        undoing?.disableUndoRegistration()
        defer { undoing?.enableUndoRegistration() }
        try load(fromContents: contents, ofType: fileType)
        undoing?.removeAllActions()
    }
}
