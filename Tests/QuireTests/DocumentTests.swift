import CLinux
import Foundation
import Glibc
import QuireCore
import QuireTransport
import Testing

@testable import Quire

@Suite("Documents", .timeLimit(.minutes(1)))
@MainActor
struct DocumentTests {
    /// A daemon that knows of no conflicts.
    static func daemon() async throws -> FakeDaemon {
        let daemon = try FakeDaemon { request, peer in
            guard request.method == ItemMethods.Info.name else { return FakeDaemon.Standard() }
            peer.answer(request.id, with: RPCError(QuireError(.notFound, "nothing is there")))
            return nil
        }
        _ = try await daemon.connect()
        return daemon
    }

    /// A call of the daemon to a document, answered.
    @discardableResult
    static func ask(
        _ daemon: FakeDaemon, _ callback: String, _ document: Document, path: String? = nil, question: UInt64? = nil
    ) async throws -> PresenterMethods.Call.Result {
        let presenter = try #require(document.presenter)
        let number = try #require(PresenterRegistry.shared.entry(of: presenter)?.number)
        var call = PresenterMethods.Call.Parameters(presenter: number, callback: callback)
        call.question = question
        call.path = path.flatMap { RelativePath(parsing: $0) }.map { WirePath($0) }
        return try await daemon.ask(call)
    }

    /// Returns when an event comes that `matches`.
    static func wait(_ document: Document, until matches: (DocumentEvent) -> Bool) async {
        for await event in document.events where matches(event) { return }
    }

    static func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

    @Test("Asked to save, it saves what is unsaved; closing it saves, too, and ends its registration")
    func saves() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        #expect(document.text == "old" && document.documentState == .normal && !document.hasUnsavedChanges)
        document.text = "new"
        #expect(document.hasUnsavedChanges)
        #expect(try Self.text(url) == "old")
        try await Self.ask(daemon, "saveChanges", document)
        #expect(try Self.text(url) == "new")
        #expect(!document.hasUnsavedChanges)
        #expect(try await document.autosave() == false)
        document.text = "newer"
        try await document.close()
        #expect(try Self.text(url) == "newer")
        #expect(document.documentState == .closed)
        await daemon.heard(PresenterMethods.Remove.name)
    }

    @Test("Before a writer it saves and disables editing; what was written is loaded before editing goes on")
    func gives() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        document.text = "edited "
        let answer = try await Self.ask(daemon, "relinquishToWriter", document, question: 4)
        #expect(answer.reacquires == true)
        #expect(document.documentState == .editingDisabled)
        #expect(try Self.text(url) == "edited ")
        try Data("edited and appended to".utf8).write(to: url)
        try await Self.ask(daemon, "didChange", document)
        try await Self.ask(daemon, "reacquire", document, question: 4)
        await Self.wait(document) {
            if case .stateChanged(.normal) = $0, document.text != "edited " { true } else { false }
        }
        #expect(document.text == "edited and appended to")
        #expect(!document.hasUnsavedChanges)
        try await document.close()
    }

    @Test("Edits stay when others wrote meanwhile; the next save keeps both")
    func keepsBoth() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        document.text = "mine"
        try Data("theirs, and longer".utf8).write(to: url)
        try await Self.ask(daemon, "didChange", document)
        await Self.wait(document) { if case .stateChanged(.inConflict) = $0 { true } else { false } }
        #expect(document.text == "mine")
        try await document.autosave()
        #expect(try Self.text(url) == "mine")
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.mountpoint.path)
        let copy = try #require(
            names.first { FileName($0).flatMap { ConflictName($0) }?.original.string == "note.txt" })
        #expect(try Self.text(daemon.mountpoint.appending(path: copy)) == "theirs, and longer")
        #expect(names.count == 2, "no temporary file stays: \(names)")
        #expect(document.documentState == .normal)
        try await document.close()
    }

    /// A document that is edited while it says what it contains.
    private final class Restless: Document {
        var edits = 0
        override func contents(forType typeName: String?) throws -> Data {
            defer {
                edits += 1
                if edits < 3 { updateChangeCount(.done) }
            }
            return Data("\(edits) \(typeName ?? "none")".utf8)
        }
        override func load(fromContents contents: Data, ofType typeName: String?) throws {}
    }

    @Test("Edits made while it is saved stay unsaved; closing goes on until nothing is")
    func editsMeanwhile() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.TXT", "old")
        let document = Restless(fileURL: url)
        try await document.open()
        document.updateChangeCount(.done)
        #expect(try await document.autosave())
        #expect(document.hasUnsavedChanges)
        try await document.close()
        #expect(try Self.text(url) == "2 txt")
    }

    @Test("A save keeps permissions and attributes; one that fails loses nothing and is told until one succeeds")
    func failure() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        #expect(chmod(url.path, 0o640) == 0)
        let document = try await GenericTextDocument.open(at: url)
        document.text = "new"
        let moved = daemon.mountpoint.appendingPathExtension("away")
        try FileManager.default.moveItem(at: daemon.mountpoint, to: moved)
        await #expect(throws: CocoaError.self) { try await document.autosave() }
        #expect(document.documentState == .savingError)
        #expect(document.hasUnsavedChanges)
        try FileManager.default.moveItem(at: moved, to: daemon.mountpoint)
        try await document.save(to: url, for: .overwriting)
        #expect(document.documentState == .normal)
        #expect(try Self.text(url) == "new")
        var status = stat()
        #expect(stat(url.path, &status) == 0 && status.st_mode & 0o7777 == 0o640)
        await #expect(throws: QuireError.self) { try await document.open() }
        let other = daemon.mountpoint.appending(path: "other")
        await #expect(throws: QuireError.self) { try await document.save(to: other, for: .overwriting) }
        try await document.close()
    }

    @Test("It follows its file, and is closed when that is deleted, its edits saved for whoever deletes")
    func follows() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        let target = daemon.mountpoint.appending(path: "renamed.md")
        try FileManager.default.moveItem(at: url, to: target)
        try await Self.ask(daemon, "didMove", document, path: "renamed.md")
        await Self.wait(document) { if case .moved = $0 { true } else { false } }
        #expect(document.fileURL.lastPathComponent == "renamed.md")
        #expect(document.fileType == "md" && document.localizedName == "renamed")
        document.text = "last"
        try await Self.ask(daemon, "accommodateDeletion", document)
        #expect(try Self.text(target) == "last")
        #expect(document.documentState == .closed)
        await Self.wait(document) { if case .deleted = $0 { true } else { false } }
        await daemon.heard(PresenterMethods.Remove.name)
    }

    @Test("Where its edits cannot be saved it objects to a deletion, and keeps them")
    func objects() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        document.autosavingDelay = nil
        document.text = "new"
        let moved = daemon.mountpoint.appendingPathExtension("away")
        try FileManager.default.moveItem(at: daemon.mountpoint, to: moved)
        await #expect(throws: (any Error).self) { try await Self.ask(daemon, "accommodateDeletion", document) }
        #expect(document.hasUnsavedChanges && document.documentState == .savingError)
        try FileManager.default.moveItem(at: moved, to: daemon.mountpoint)
        try await Self.ask(daemon, "accommodateDeletion", document)
        #expect(try Self.text(url) == "new" && document.documentState == .closed)
    }

    @Test("What is edited inside of another access is saved by itself afterwards")
    func editedInside() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        document.autosavingDelay = .milliseconds(1)
        AccessScope.$current.withValue(AccessScope(kind: .reading, purpose: "another")) { document.text = "new" }
        await Self.wait(document) { if case .saved = $0 { true } else { false } }
        #expect(try Self.text(url) == "new")
        try await document.close()
    }

    @Test("A text that is not there is made with the default; one that is not UTF-8, or a directory, is refused")
    func making() async throws {
        let daemon = try await Self.daemon()
        let url = daemon.mountpoint.appending(path: "new.txt")
        let document = try await GenericTextDocument.open(at: url, defaultText: "Dear …")
        #expect(try Self.text(url) == "Dear …")
        #expect(document.documentState == .normal && !document.hasUnsavedChanges)
        #expect(PresenterRegistry.shared.presenters.contains { $0 === document.presenter })
        try await document.close()
        try await document.open()
        try await document.close()
        try Data([0xFF, 0xFE]).write(to: url)
        let error = await #expect(throws: CocoaError.self) { try await document.open() }
        #expect(error?.code == .fileReadInapplicableStringEncoding)
        #expect(document.documentState == .closed && document.presenter == nil)
        await #expect(throws: QuireError.self) { try await GenericTextDocument.open(at: daemon.mountpoint) }
    }

    @Test("It saves by itself after the delay, and says what it could not load")
    func byItself() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        document.autosavingDelay = .milliseconds(1)
        document.text = "new"
        await Self.wait(document) { if case .saved = $0 { true } else { false } }
        #expect(try Self.text(url) == "new")
        try Data([0xFF, 0xFE]).write(to: url)
        try await Self.ask(daemon, "didChange", document)
        await Self.wait(document) { if case .failed = $0 { true } else { false } }
        #expect(document.text == "new")
        try await document.close()
    }

    @Test(
        "An undo manager counts the edits: undone to what was saved nothing is unsaved, undone beyond it something is")
    func undo() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let document = try await GenericTextDocument.open(at: url)
        document.autosavingDelay = nil
        let undo = document.undoManager
        document.text = "one"
        document.text = "two"
        undo.undo()
        #expect(document.text == "one" && document.hasUnsavedChanges)
        undo.undo()
        #expect(document.text == "old" && !document.hasUnsavedChanges)
        undo.redo()
        #expect(document.hasUnsavedChanges)
        try await document.autosave()
        #expect(try Self.text(url) == "one" && !document.hasUnsavedChanges)
        undo.undo()
        #expect(document.text == "old" && document.hasUnsavedChanges)
        // What was saved cannot be had by undoing any more.
        document.text = "other"
        #expect(document.hasUnsavedChanges)
        undo.undo()
        #expect(document.text == "old" && document.hasUnsavedChanges)
        try await document.revert(toContentsOf: url)
        #expect(document.text == "one" && !undo.canUndo && !undo.canRedo && !document.hasUnsavedChanges)
        try await document.close()
    }

    @Test("While content comes the state says so, and progress how much has come")
    func progress() async throws {
        let answers = AsyncStream.makeStream(of: (RPCIdentifier, RPCPeer).self)
        let daemon = try FakeDaemon { request, peer in
            switch request.method {
            case ItemMethods.Download.name: answers.continuation.yield((request.id, peer))
            case ItemMethods.Info.name: peer.answer(request.id, with: RPCError(QuireError(.notFound, "nothing")))
            default: return FakeDaemon.Standard()
            }
            return nil
        }
        _ = try await daemon.connect()
        // Of a package it is not known that its content is here: the daemon is asked to bring it.
        let url = daemon.mountpoint.appending(path: "pack.bundle")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        let document = Bundle(fileURL: url)
        async let opened: Void = document.open()
        var asked = answers.stream.makeAsyncIterator()
        let (id, peer) = try #require(await asked.next())
        await peer.sendPartial(ItemMethods.ContentProgress(completed: 0, total: 100), of: id)
        await Self.wait(document) {
            if case .stateChanged([.closed, .progressAvailable]) = $0 { true } else { false }
        }
        let progress = try #require(document.progress)
        #expect(progress.totalUnitCount == 100)
        await peer.sendPartial(ItemMethods.ContentProgress(completed: 40, total: 100), of: id)
        while progress.completedUnitCount < 40 { await Task.yield() }
        #expect(progress.completedUnitCount == 40)
        peer.answer(id, with: ItemMethods.ContentOutcome(files: 1))
        try await opened
        #expect(document.documentState == .normal && document.progress == nil && progress.isFinished)
        try await document.close()
    }

    /// A package: a text and attachments.
    final class Bundle: Document {
        var package = FileWrapper(directoryWithFileWrappers: [:])

        override func contents(forType typeName: String?) throws -> FileWrapper { package }

        override func load(fromContents contents: FileWrapper, ofType typeName: String?) throws {
            guard contents.isDirectory else { throw CocoaError(.fileReadCorruptFile) }
            package = contents
        }
    }

    static func bundle(_ url: URL) async throws -> Bundle {
        let document = Bundle(fileURL: url)
        document.package.addRegularFile(withContents: Data("text".utf8), preferredFilename: "text.txt")
        let pictures = FileWrapper(directoryWithFileWrappers: ["a.png": .init(regularFileWithContents: Data("a".utf8))])
        document.package["pictures"] = pictures
        document.package["link"] = FileWrapper(
            symbolicLinkWithDestinationURL: URL(filePath: "text.txt", relativeTo: URL(filePath: "/")))
        try await document.save(to: url, for: .creating)
        return document
    }

    @Test("A package is saved whole, in one step, and read again as it was")
    func packages() async throws {
        let daemon = try await Self.daemon()
        let url = daemon.mountpoint.appending(path: "pack.bundle")
        let document = try await Self.bundle(url)
        #expect(chmod(url.appending(path: "text.txt").path, 0o600) == 0)
        #expect(setxattr(url.path, "user.mine", "x", 1, 0) == 0)
        document.package["text.txt"] = FileWrapper(regularFileWithContents: Data("newer".utf8))
        document.package.removeFileWrapper(named: "pictures")
        document.updateChangeCount(.done)
        try await document.close()
        #expect(try FileManager.default.subpathsOfDirectory(atPath: url.path).sorted() == ["link", "text.txt"])
        #expect(try Self.text(url.appending(path: "text.txt")) == "newer")
        var status = stat()
        #expect(stat(url.appending(path: "text.txt").path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(getxattr(url.path, "user.mine", nil, 0) == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.mountpoint.path) == ["pack.bundle"])
        let again = Bundle(fileURL: url)
        try await again.open()
        #expect(again.package["link"]?.symbolicLinkDestinationURL?.lastPathComponent == "text.txt")
        #expect(again.package["text.txt"]?.regularFileContents == Data("newer".utf8))
        // A change anywhere in it is one of the document.
        try Data("from elsewhere".utf8).write(to: url.appending(path: "text.txt"))
        try await Self.ask(daemon, "didChange", again)
        await Self.wait(again) {
            if case .contentsLoaded = $0 { again.package["text.txt"]?.regularFileContents?.count == 14 } else { false }
        }
        again.package["text.txt"] = FileWrapper(regularFileWithContents: Data("mine".utf8))
        again.updateChangeCount(.done)
        try Data("theirs".utf8).write(to: url.appending(path: "text.txt"))
        try await again.autosave()
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.mountpoint.path)
        let copy = try #require(names.first { $0.contains("conflicted copy") })
        #expect(try Self.text(daemon.mountpoint.appending(path: "\(copy)/text.txt")) == "theirs")
        #expect(try Self.text(url.appending(path: "text.txt")) == "mine")
        try await again.close()
    }

    @Test("Where nothing can be exchanged a package is saved in two steps, and what it cannot hold is refused")
    func packagesElsewhere() async throws {
        let daemon = try await Self.daemon()
        let url = daemon.mountpoint.appending(path: "pack.bundle")
        let document = try await Self.bundle(url)
        var file = DocumentFile(url: url)
        file.exchanges = false
        _ = try file.replace(with: FileWrapper(directoryWithFileWrappers: [:]), keepsOther: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty)
        // A file in the place of a directory, and back.
        _ = try file.replace(with: FileWrapper(regularFileWithContents: Data("flat".utf8)), keepsOther: false)
        #expect(try Self.text(url) == "flat")
        file.exchanges = true
        _ = try file.replace(with: document.package, keepsOther: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.mountpoint.path) == ["pack.bundle"])
        document.package["a/b"] = FileWrapper(regularFileWithContents: Data())
        await #expect(throws: QuireError.self) { try await document.save(to: url, for: .overwriting) }
        #expect(document.documentState == .savingError)
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.mountpoint.path) == ["pack.bundle"])
        #expect(mkfifo(url.appending(path: "pipe").path, 0o600) == 0)
        #expect(throws: QuireError.self) { try FileWrapper(url: url) }
        await #expect(throws: QuireError.self) { try await GenericTextDocument.open(at: url) }
    }

    @Test("A file wrapper has a name for each of its children, and is a value")
    func wrappers() throws {
        var directory = FileWrapper()
        let file = FileWrapper(regularFileWithContents: Data("x".utf8))
        for _ in 0..<3 { directory.addRegularFile(withContents: Data(), preferredFilename: "a.txt") }
        #expect(directory.fileWrappers?.keys.sorted() == ["a 2.txt", "a 3.txt", "a.txt"])
        #expect(directory.addFileWrapper(file) == "Untitled" && directory.addFileWrapper(file) == "Untitled 2")
        let before = directory
        directory["Untitled"] = nil
        #expect(before["Untitled"] == file && directory["Untitled"] == nil && before != directory)
        #expect(directory.isDirectory && !directory.isRegularFile && !directory.isSymbolicLink)
        var flat = file
        #expect(flat.addFileWrapper(file) == nil && flat == file && flat.isRegularFile)
    }

    @Test("A document opened by a symbolic link is the link's target, and the link stays")
    func links() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        let link = daemon.mountpoint.appending(path: "link.txt")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "note.txt")
        let document = try await GenericTextDocument.open(at: link)
        #expect(document.fileURL.path == url.path)
        document.text = "new"
        try await document.close()
        #expect(try Self.text(url) == "new")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "note.txt")
    }

    @Test("Reverting to another file is an edit; to its own file, the end of all edits")
    func reverts() async throws {
        let daemon = try await Self.daemon()
        let (url, other) = (try daemon.document("note.txt", "old"), try daemon.document("other.txt", "other"))
        let document = try await GenericTextDocument.open(at: url)
        try await document.revert(toContentsOf: other)
        #expect(document.text == "other" && document.hasUnsavedChanges)
        try await document.revert(toContentsOf: url)
        #expect(document.text == "old" && !document.hasUnsavedChanges)
        try await document.close()
    }

    @Test("One that is dropped without being closed is not registered any more")
    func dropped() async throws {
        let daemon = try await Self.daemon()
        let url = try daemon.document("note.txt", "old")
        weak var gone: GenericTextDocument?
        do {
            let document = try await GenericTextDocument.open(at: url)
            gone = document
        }
        await daemon.heard(PresenterMethods.Remove.name)
        #expect(gone == nil)
    }
}
