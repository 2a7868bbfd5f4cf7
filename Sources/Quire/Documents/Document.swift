public import Foundation
import QuireCore

/// A document that an app has open: read and saved in coordination with everybody else on the drive (UIDocument).
///
/// A subclass says what its contents are as data, in `contents(forType:)`, and takes them from data, in
/// `load(fromContents:ofType:)`; of a package, which is a directory with a package's extension, both with a `FileWrapper`. It
/// calls `updateChangeCount(_:)` with each edit, or has them counted by an `undoManager`. The rest comes with it:
///
/// - What is unsaved is saved before anybody reads the file or writes it, after `autosavingDelay`, and at `close()`. A save
///   replaces the file in one step; edits made meanwhile stay unsaved.
/// - What others write is loaded, where nothing is unsaved. Otherwise the edits stay, the document is `.inConflict`, and the
///   next save puts the other content beside the document first, as a conflict version: nothing is lost.
/// - It follows when the file is moved, and closes when it is deleted.
///
/// Everything runs on the main actor but system calls. Keep a reference as long as it is open: without one it ends, and edits
/// that are unsaved are lost.
@MainActor
open class Document {
    /// Where the file is now, or is to be made.
    public internal(set) var fileURL: URL
    /// How long after an edit it is saved by itself; nil for never. 15 s by default, our choice.
    public var autosavingDelay: Duration? = .seconds(15)
    /// How much of the content has come here, in bytes, while `.progressAvailable`.
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
    /// Once somebody asked for it.
    var undoing: UndoManager?

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

    /// What is saved of a document that is one file. Abstract, where the one for packages is not overridden.
    ///
    /// - Parameter typeName: see `fileType`.
    /// - Returns: the whole file's bytes, of what the document is at this moment.
    /// - Throws: whatever keeps it from being saved; `save` throws it.
    open func contents(forType typeName: String?) throws -> Data {
        throw QuireError(.usage, "\(type(of: self)) does not say what its contents are", remedy: "Override contents")
    }

    /// What is saved of a document that is a package. By default the one file that `contents(forType:)` gives as data.
    ///
    /// - Returns: the whole package, of what the document is at this moment: what is not in it is not there afterwards.
    open func contents(forType typeName: String?) throws -> FileWrapper {
        FileWrapper(regularFileWithContents: try contents(forType: typeName) as Data)
    }

    /// Takes what was read of one file: at opening, and when others changed it. Abstract, where the one for packages is not
    /// overridden.
    ///
    /// - Parameters:
    ///   - contents: the whole file's bytes.
    ///   - typeName: see `fileType`.
    /// - Throws: where they cannot be understood: opening fails with it, a reload leaves the document as it was.
    open func load(fromContents contents: Data, ofType typeName: String?) throws {
        throw QuireError(.usage, "\(type(of: self)) does not load contents", remedy: "Override load")
    }

    /// Takes what was read of a package, or of a file. By default it has the file's bytes loaded, and refuses packages.
    open func load(fromContents contents: FileWrapper, ofType typeName: String?) throws {
        guard let data = contents.regularFileContents else {
            throw QuireError(
                .usage, "\(fileURL.path) is a package, and \(type(of: self)) loads files only",
                remedy: "Override load(fromContents:ofType:) with a FileWrapper")
        }
        try load(fromContents: data, ofType: typeName)
    }

    /// What is written beside the contents: thumbnails, tags. Asked for with each save; nothing by default.
    ///
    /// - Parameter url: where it is saved.
    /// - Throws: whatever keeps it from being saved.
    open func fileAttributesToWrite(
        to url: URL, for saveOperation: DocumentSaveOperation
    ) throws -> DocumentAttributes { DocumentAttributes() }

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

    // MARK: For the document's own parts

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
