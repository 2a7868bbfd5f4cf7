import Glibc
import Logging
import QuireConfinement
import QuireContent
import QuireCore
import QuireIndex
import QuireStore
import Testing

@testable import QuireMain

/// Tells of each line of a log that says that a document was not read.
private struct UnreadLog: LogHandler {
    let told: AsyncStream<Void>.Continuation
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if event.message.description == "a document was not read" { told.yield() }
    }
}

@Suite("Reading documents for their words", .timeLimit(.minutes(1)))
struct ContentServiceTests {
    let directory: TemporaryDirectory
    let home: DriveHome
    let tree: DriveTree

    init() throws {
        directory = try TemporaryDirectory()
        home = DriveHome(path: directory.path + "/home")
        try home.createLayout()
        tree = try home.openStore()
    }

    private func index(keepsContent: Bool = true) throws -> MetadataIndex {
        try MetadataIndex.open(
            at: home.indexPath, driveRoot: home.storePath,
            content: keepsContent ? directory.path + "/content.sqlite" : nil
        ).0
    }

    private func rescan(_ index: MetadataIndex) async throws {
        index.beginRescan()
        _ = await index.rescanFinished()
        try await index.settle()
    }

    /// With a program for archives, and nowhere where it could work.
    private func reader(
        _ index: MetadataIndex, _ told: AsyncStream<Void>.Continuation, megabytes: Int = 2000
    ) throws -> ContentReader {
        try directory.write("unzip", "")
        chmod(directory.path + "/unzip", 0o755)
        return ContentReader(
            index: index, documents: DocumentReader(tree: tree, staging: home.staging),
            extractor: ContentExtractor(
                directories: WorkDirectory(staging: "/nowhere", purpose: "content", name: "nowhere/nowhere"),
                path: [directory.path]),
            settings: ContentSettings(isOn: true, megabytes: megabytes),
            logger: Logger(label: "test") { _ in UnreadLog(told: told) })
    }

    private let atOnce = ProgramsFirst { false }

    @Test("A document that cannot be read for now keeps no other waiting, and is tried again")
    func unreadable() async throws {
        // The first of all: with a page that is read together less than what is there.
        let before = try index(keepsContent: false)
        try directory.write("home/drive/first.odt", "nothing that matters")
        try await rescan(before)
        for number in 0..<70 { try directory.write("home/drive/\(number).txt", "word") }
        try await rescan(before)
        before.close()
        let index = try index()
        defer { index.close() }
        let unread = AsyncStream.makeStream(of: Void.self)
        let service = ContentService(
            reader: try reader(index, unread.continuation), index: index, programsFirst: atOnce)
        let running = Task { await service.run() }
        var tries = 0
        for await _ in unread.stream {
            tries += 1
            if tries == 2 { break }
        }
        running.cancel()
        await running.value
        let found = try await index.find(ItemQuery(predicate: try QueryParser.parse("content == word")))
        #expect(tries == 2 && found.count == 70)
    }

    @Test("A document whose directory is renamed while it is read is read where it is then")
    func renamed() async throws {
        _ = try directory.make("home/drive/old")
        try directory.write("home/drive/old/a.txt", "word")
        let index = try index()
        defer { index.close() }
        try await rescan(index)
        let reader = try reader(index, AsyncStream.makeStream(of: Void.self).continuation)
        func due() async throws -> [ContentDocument] {
            // All were looked at then: no later look finds the document by itself.
            var found: [ContentDocument] = []
            while true {
                let work = try await index.contentWork(limit: 10) { reader.extractor.form(of: $0) != nil }
                found += work.documents.filter { !found.contains($0) }
                if work.isLast { return found }
            }
        }
        let found = try await due()
        try #require(found.map(\.path) == ["old/a.txt"])
        #expect(rename(home.storePath + "/old", home.storePath + "/new") == 0)
        try await rescan(index)
        index.handBackContent(try await reader.read(found, atOnce))
        let again = try await due()
        #expect(again.map(\.path) == ["new/a.txt"])
        #expect(try await reader.read(again, atOnce).isEmpty)
        let words = try await index.find(ItemQuery(predicate: try QueryParser.parse("content == word")))
        #expect(words.map(\.path) == ["new/a.txt"])
    }

    @Test(
        "Where no room is left a changed document is not found by its former words; when there is, by what it says now")
    func full() async throws {
        let index = try index()
        defer { index.close() }
        let reader = try reader(index, AsyncStream.makeStream(of: Void.self).continuation, megabytes: 1)
        func pass() async throws {
            while true {
                let work = try await index.contentWork(limit: 10) { reader.extractor.form(of: $0) != nil }
                #expect(try await reader.read(work.documents, atOnce).isEmpty)
                if work.isLast { return }
            }
        }
        func found(_ word: String) async throws -> [RelativePath] {
            try await index.find(ItemQuery(predicate: try QueryParser.parse("content == \(word)"))).map(\.path)
        }
        for number in 0..<4 {
            // Mostly text: the index of words stays as large until it is merged.
            let words = (0..<60_000).map { "words\($0 % 100)" }.joined(separator: " ")
            try directory.write("home/drive/\(number).txt", "early\(number) " + words)
            try await rescan(index)
            try await pass()
        }
        try #require(try await found("early0") == ["0.txt"])
        try #require(try await found("early3") == [])
        try directory.write("home/drive/0.txt", "late")
        try await rescan(index)
        try await pass()
        #expect(try await found("early0") == [])
        for number in 1..<4 { try directory.write("home/drive/\(number).txt", "short\(number)") }
        try await rescan(index)
        try await pass()
        // All were told again where there was room.
        try await pass()
        #expect(try await found("short3") == ["3.txt"])
        #expect(try await found("late") == ["0.txt"])
    }
}
