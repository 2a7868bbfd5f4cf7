/// What a document is able to do now (UIDocument.State); several may be so at once, none is `normal`.
public struct DocumentState: OptionSet, Hashable, Sendable {
    /// The bits, as UIKit's.
    public let rawValue: UInt

    /// Any combination of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Open, and nothing is in the way.
    public static let normal: DocumentState = []
    /// Not open, or not open any more: its contents are not to be relied on.
    public static let closed = DocumentState(rawValue: 1)
    /// There are versions in conflict with the document, or what others wrote while it had unsaved edits is not kept yet.
    public static let inConflict = DocumentState(rawValue: 2)
    /// The last save failed: what is unsaved is in memory alone.
    public static let savingError = DocumentState(rawValue: 4)
    /// Somebody else is writing the document: edits are to wait.
    public static let editingDisabled = DocumentState(rawValue: 8)
    /// Its content is on the way here, see `Document.progress`.
    public static let progressAvailable = DocumentState(rawValue: 16)
}

/// What `Document.updateChangeCount(_:)` counts (UIDocument.ChangeKind).
public enum DocumentChangeKind: Sendable, Hashable {
    /// An edit was made.
    case done
    /// An edit was undone.
    case undone
    /// An edit that was undone was made again.
    case redone
    /// All is as it was when it was last saved or read.
    case cleared
}

/// What a document is saved for (UIDocument.SaveOperation).
public enum DocumentSaveOperation: Sendable, Hashable {
    /// A new document, which is open afterwards. What is at its place is replaced.
    case creating
    /// The document that is open.
    case overwriting
}

/// What happens to a document, for whoever shows it.
public enum DocumentEvent: Sendable {
    /// `Document.state` is another one.
    case stateChanged(DocumentState)
    /// The contents are those of the file again: opened, or changed by others.
    case contentsLoaded
    /// It is saved.
    case saved
    /// The file is elsewhere now.
    case moved
    /// The file is being deleted, or another put in its place: the document is closed.
    case deleted
    /// Something failed that nobody called for: an autosave, a reload. `Document.handleError(_:)` got it, too.
    case failed(any Error)
}
