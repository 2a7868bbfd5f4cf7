public import Foundation
import QuireCore

/// A document that an app has open: read and saved in coordination with everybody else on the drive (UIDocument).
///
/// A subclass says what its contents are as data, in `contents(forType:)`, and takes them from data, in
/// `load(fromContents:ofType:)`. It calls `updateChangeCount(_:)` with each edit. The rest comes with it:
///
/// - What is unsaved is saved before anybody reads the file or writes it, after `autosavingDelay`, and at `close()`. A save
///   replaces the file in one step; edits made meanwhile stay unsaved.
/// - What others write is loaded, where nothing is unsaved. Otherwise the edits stay, the document is `.inConflict`, and the
///   next save puts the other content beside the document first, as a conflict version: nothing is lost.
/// - It follows when the file is moved, and closes when it is deleted.
///
/// One file; a package (a directory) is refused. Everything runs on the main actor but system calls. Keep a reference as long
/// as it is open: without one it ends, and edits that are unsaved are lost.
@MainActor
open class Document {
    /// Where the file is now, or is to be made.
    public internal(set) var fileURL: URL
    /// How long after an edit it is saved by itself; nil for never. 15 s by default, our choice.
    public var autosavingDelay: Duration? = .seconds(15)
    /// The content that is on the way here, in bytes, while `.progressAvailable`.
    public internal(set) var progress: Progress?
    /// What happens, from the document's making on, for one loop: `for await event in document.events`.
    public let events: AsyncStream<DocumentEvent>

    let event: AsyncStream<DocumentEvent>.Continuation
    let turns = DocumentTurns()
    var machine = DocumentMachine()
    /// While open, or opening.
    var presenter: DocumentPresenter?
    var listening: Task<Void, Never>?
    var autosaving: Task<Void, Never>?

    /// - Parameter fileURL: on a drive; the file may be there or not. Touches nothing.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        (events, event) = AsyncStream.makeStream(of: DocumentEvent.self)
    }

    deinit {
        event.finish()
        listening?.cancel()
        autosaving?.cancel()
        guard let presenter else { return }
        FileCoordinator.removeFilePresenter(presenter)
        presenter.finish()
    }

    // MARK: For subclasses

    /// What is saved. Abstract.
    ///
    /// - Parameter typeName: see `fileType`.
    /// - Returns: the whole file's bytes, of what the document is at this moment.
    /// - Throws: whatever keeps it from being saved; `save` throws it.
    open func contents(forType typeName: String?) throws -> Data {
        throw QuireError(.usage, "\(type(of: self)) does not say what its contents are", remedy: "Override contents")
    }

    /// Takes what was read: at opening, and when others changed the file. Abstract.
    ///
    /// - Parameters:
    ///   - contents: the whole file's bytes.
    ///   - typeName: see `fileType`.
    /// - Throws: where they cannot be understood: opening fails with it, a reload leaves the document as it was.
    open func load(fromContents contents: Data, ofType typeName: String?) throws {
        throw QuireError(.usage, "\(type(of: self)) does not load contents", remedy: "Override load")
    }

    /// Somebody else is about to write: edits would be made to what is gone in a moment. Does nothing by default.
    open func disableEditing() {}

    /// The writer is done, and what it wrote is loaded. Does nothing by default.
    open func enableEditing() {}

    /// Something failed that nobody called for. Does nothing by default: `events` says it, too.
    open func handleError(_ error: any Error) {}

    // MARK: What is so

    /// The name's extension, in lower case; nil without one.
    public var fileType: String? {
        let suffix = fileURL.pathExtension.lowercased()
        return suffix.isEmpty ? nil : suffix
    }

    /// The name without its extension, for people.
    public var localizedName: String { fileURL.deletingPathExtension().lastPathComponent }

    /// What the document is able to do now.
    public var documentState: DocumentState { machine.state }

    /// Whether there are edits that are not saved.
    public var hasUnsavedChanges: Bool { machine.hasUnsavedChanges }

    // MARK: Edits

    /// Counts an edit; to be called with each, after it.
    public func updateChangeCount(_ change: DocumentChangeKind) {
        alter { $0.edited(change) }
        if hasUnsavedChanges { scheduleAutosave() }
    }

    /// Changes the state, and says so.
    @discardableResult
    func alter<Value>(_ body: (inout DocumentMachine) -> Value) -> Value {
        let (before, wasDisabled) = (machine.state, machine.isEditingDisabled)
        let value = body(&machine)
        if wasDisabled != machine.isEditingDisabled {
            if machine.isEditingDisabled { disableEditing() } else { enableEditing() }
        }
        if before != machine.state { event.yield(.stateChanged(machine.state)) }
        return value
    }

    /// Tells what failed while nobody waited for it.
    func report(_ error: any Error) {
        handleError(error)
        event.yield(.failed(error))
    }
}
