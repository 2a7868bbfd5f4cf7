import Foundation
import Glibc
import QuireCore
import QuireTransport
import Testing

@testable import Quire

/// What others do while a document is made and saved, and places that are not plain.
extension DocumentTests {
    @Test("What is edited while the document is made is saved by itself")
    func editedWhileMade() async throws {
        let grants = AsyncStream.makeStream(of: (RPCIdentifier, RPCPeer).self)
        let daemon = try FakeDaemon { request, peer in
            switch request.method {
            case CoordinationMethods.Acquire.name: grants.continuation.yield((request.id, peer))
            case ItemMethods.Info.name: peer.answer(request.id, with: RPCError(QuireError(.notFound, "nothing")))
            default: return FakeDaemon.Standard()
            }
            return nil
        }
        _ = try await daemon.connect()
        let url = daemon.mountpoint.appending(path: "note.txt")
        let document = GenericTextDocument(fileURL: url)
        document.autosavingDelay = .milliseconds(1)
        document.text = "first"
        async let made: Void = document.save(to: url, for: .creating)
        var asked = grants.stream.makeAsyncIterator()
        for claim: UInt64 in [7, 8] {
            let (id, peer) = try #require(await asked.next())
            if claim == 7 { document.text = "second" }
            peer.answer(id, with: CoordinationMethods.Acquire.Result(claim: claim, paths: [WirePath("note.txt")]))
        }
        try await made
        while document.hasUnsavedChanges { await Self.wait(document) { if case .saved = $0 { true } else { false } } }
        #expect(try Self.text(url) == "second")
    }

    @Test("What is undone while a document is saved by itself is saved by itself, too")
    func undoneWhileSaved() async throws {
        let (daemon, asked, url) = try await Self.asking()
        var asking = asked.makeAsyncIterator()
        async let opened = GenericTextDocument.open(at: url)
        try await Self.grant(asking.next())
        let document = try await opened
        document.autosavingDelay = .milliseconds(1)
        document.text = "new"
        let save = try #require(await asking.next())
        document.updateChangeCount(.undone)
        #expect(!document.hasUnsavedChanges)
        try Self.grant(save)
        try await Self.grant(asking.next())
        while document.hasUnsavedChanges { await Self.wait(document) { if case .saved = $0 { true } else { false } } }
        withExtendedLifetime(daemon) {}
    }

    /// A daemon that leaves it to the test when accesses are granted, and a document on it. A request that is cancelled ends.
    private static func asking() async throws -> (
        daemon: FakeDaemon, asked: AsyncStream<(RPCIncoming, RPCPeer)>, url: URL
    ) {
        let grants = AsyncStream.makeStream(of: (RPCIncoming, RPCPeer).self)
        let daemon = try FakeDaemon { request, peer in
            switch request.method {
            case CoordinationMethods.Acquire.name:
                grants.continuation.yield((request, peer))
                Task {
                    await request.cancelled.wait()
                    peer.answer(request.id, with: RPCError(code: RPCError.cancelled, message: "cancelled"))
                }
            case ItemMethods.Info.name: peer.answer(request.id, with: RPCError(QuireError(.notFound, "nothing")))
            default: return FakeDaemon.Standard()
            }
            return nil
        }
        _ = try await daemon.connect()
        return (daemon, grants.stream, try daemon.document("note.txt", "old"))
    }

    private static func grant(_ asked: (RPCIncoming, RPCPeer)?) throws {
        let (request, peer) = try #require(asked)
        peer.answer(request.id, with: CoordinationMethods.Acquire.Result(claim: 7, paths: [WirePath("note.txt")]))
    }

    /// Whoever asks the document waits for the answer, and the document's own save waits for them: it came before.
    @Test(
        "A save that waits for access gives way to a question, which saves; it is no failure",
        arguments: ["saveChanges", "relinquishToWriter", "accommodateDeletion"])
    func givesWay(question: String) async throws {
        let (daemon, asking, url) = try await Self.asking()
        var asked = asking.makeAsyncIterator()
        async let opened = GenericTextDocument.open(at: url)
        try await Self.grant(asked.next())
        let document = try await opened
        document.autosavingDelay = nil
        document.text = "new"
        let saving = Task { try await document.save(to: url, for: .overwriting) }
        _ = try #require(await asked.next())
        async let answered = Self.ask(daemon, question, document, question: 3)
        try await Self.grant(asked.next())
        _ = try await answered
        #expect(try Self.text(url) == "new")
        if question == "accommodateDeletion" {
            await #expect(throws: QuireError.self) { try await saving.value }
            #expect(document.documentState == .closed)
        } else {
            try await Self.grant(asked.next())
            try await saving.value
            #expect(!document.documentState.contains(.savingError))
        }
    }

    @Test("A text that comes while one is made with the default is opened, and not replaced")
    func comesWhileMade() async throws {
        let (daemon, asking, url) = try await Self.asking()
        try FileManager.default.removeItem(at: url)
        var asked = asking.makeAsyncIterator()
        async let opened = GenericTextDocument.open(at: url, defaultText: "default")
        try await Self.grant(asked.next())
        let making = await asked.next()
        try Data("theirs".utf8).write(to: url)
        try Self.grant(making)
        try await Self.grant(asked.next())
        let document = try await opened
        #expect(document.text == "theirs" && !document.hasUnsavedChanges)
        #expect(try Self.text(url) == "theirs")
        withExtendedLifetime(daemon) {}
    }

    @Test("A document that is reached by a link to its directory is saved, and saved again")
    func linkedDirectory() async throws {
        let daemon = try await Self.daemon()
        let directory = daemon.mountpoint.appending(path: "real", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let link = daemon.mountpoint.appending(path: "link")
        #expect(symlink(directory.path, link.path) == 0)
        try Data("old".utf8).write(to: directory.appending(path: "note.txt"))
        let document = try await GenericTextDocument.open(at: link.appending(path: "note.txt"))
        for text in ["one", "two"] {
            document.text = text
            #expect(try await document.autosave())
        }
        // Kept beside it there, too.
        try Data("theirs".utf8).write(to: directory.appending(path: "note.txt"))
        document.text = "three"
        try await document.close()
        #expect(try Self.text(directory.appending(path: "note.txt")) == "three")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 2)
    }

    @Test("What others wrote, and cannot be kept beside the edits, stays; nothing of a copy is left")
    func keepingFails() async throws {
        let daemon = try await Self.daemon()
        let url = daemon.mountpoint.appending(path: "pack.bundle")
        let document = try await Self.bundle(url)
        try Data("theirs".utf8).write(to: url.appending(path: "text.txt"))
        // Nobody copies a socket.
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let place = url.appending(path: "zz").path
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place.utf8) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        document.package["text.txt"] = FileWrapper(regularFileWithContents: Data("mine".utf8))
        document.updateChangeCount(.done)
        await #expect(throws: (any Error).self) { try await document.autosave() }
        #expect(document.hasUnsavedChanges && document.documentState.contains(.savingError))
        #expect(try FileManager.default.contentsOfDirectory(atPath: daemon.mountpoint.path) == ["pack.bundle"])
        #expect(try Self.text(url.appending(path: "text.txt")) == "theirs")
    }
}
