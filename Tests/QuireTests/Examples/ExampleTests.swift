import Foundation
import Quire
import Testing

/// The examples of the library's articles and of the README, word for word: `Scripts/check-examples` compares them. Here they
/// run, on a daemon made of a script.
@Suite("Examples of the articles", .timeLimit(.minutes(1)))
struct ExampleTests {
    @Test("Connecting")
    func connecting() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        await connect()
        await find(try daemon.document("note.txt"))
    }

    @Test("Coordinating access")
    func coordinating() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let note = try daemon.document("note.txt", "a line\n")
        #expect(try await append(note) == "a line\n")
        #expect(try String(contentsOf: note, encoding: .utf8) == "a line\none line more\n")
        let archived = daemon.mountpoint.appending(path: "archived.txt")
        try await snapshot(note) { url in
            let text = try String(contentsOf: url, encoding: .utf8)
            #expect(text == "a line\none line more\n")
        }
        try await move(note, archived)
        #expect(try String(contentsOf: archived, encoding: .utf8) == "a line\none line more\n")
    }

    @Test("Presenting items")
    func presenting() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let viewer = try await present(try daemon.document("note.txt"))
        #expect(!FileCoordinator.filePresenters.contains { $0 === viewer })
    }

    @Test("Documents")
    @MainActor
    func documents() async throws {
        let daemon = try FakeDaemon()
        _ = try await daemon.connect()
        let url = daemon.mountpoint.appending(path: "count")
        try await make(url)
        try await count(url)
        #expect(try String(contentsOf: url, encoding: .utf8) == "1\n")
        let note = try await write(daemon.mountpoint.appending(path: "note.txt"))
        #expect(note.text == "Dear …\nsee you soon\n")
        try await note.close()
        #expect(try await !mistake(url))
        let album = Album(fileURL: daemon.mountpoint.appending(path: "album.bundle"))
        album.pictures = ["a.png": Data("a".utf8)]
        try await album.save(to: album.fileURL, for: .creating)
        try await album.close()
        album.pictures = [:]
        try await album.open()
        #expect(album.pictures == ["a.png": Data("a".utf8)])
        try await album.close()
    }
}
