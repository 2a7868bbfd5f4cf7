import Foundation
import GRDB
import Logging
import QuireCore
import Testing

@testable import QuireIndex

/// A drive whose words are kept, and a stand-in for who reads documents: all text is plain.
private final class ContentDrive {
    let drive: TestDrive

    init(at existing: String? = nil) throws { drive = try TestDrive(at: existing, keepsContent: true) }

    static func use(_ body: (ContentDrive) async throws -> Void) async throws {
        let content = try ContentDrive()
        defer { content.drive.remove() }
        try await body(content)
    }

    /// Reads what is due, and says what that was.
    @discardableResult
    func read() async throws -> [RelativePath] {
        try await drive.index.settle()
        try await drive.index.typesNoted()
        var paths: [RelativePath] = []
        while true {
            let work = try await drive.index.contentWork(limit: 7) { $0.conforms(to: .text) }
            try await drive.index.noteContent(
                work.documents.map { ContentReading($0, text: self.text($0.path)) })
            paths += work.documents.map(\.path)
            if work.isLast { return paths.sorted { $0.description < $1.description } }
        }
    }

    private func text(_ path: RelativePath) -> String? {
        FileManager.default.contents(atPath: drive.store + "/" + path.description).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func find(_ expression: String) async throws -> [RelativePath] {
        try await drive.index.settle()
        return try await drive.index.find(ItemQuery(predicate: try QueryParser.parse(expression))).map(\.path)
    }

    /// Puts the file under the name as sync does, with or without its content.
    func install(_ path: RelativePath, _ content: String, dataless: Bool) throws {
        let root = try drive.present(.root).inode
        try drive.replace(path, content)
        if dataless { try drive.makePlaceholder(path, size: content.utf8.count) }
        try drive.setTimeQuietly(path, seconds: 1_000_000)
        drive.index.record(
            .committed(
                .init(
                    .installed(
                        parent: root, name: try #require(path.name), try drive.present(path), dataless: dataless),
                    base: try drive.base(path))))
    }
}

@Suite("The words of documents", .timeLimit(.minutes(2)))
struct ContentTests {
    @Test("A document is found by its words, after a change by the new ones only, wherever it goes, until it is gone")
    func life() async throws {
        try await ContentDrive.use { content in
            let drive = content.drive
            try drive.create("a.txt", "the quick brown fox")
            try drive.create("b.png", "quick, but a picture")
            #expect(try await content.read() == ["a.txt"])
            #expect(try await content.read() == [])
            #expect(try await content.find(#"kMDItemTextContent == "quick""#) == ["a.txt"])
            drive.clock.advance(seconds: 1)
            try drive.write("a.txt", "a lazy dog instead")
            #expect(try await content.read() == ["a.txt"])
            #expect(try await content.find("content == quick") == [])
            #expect(try await content.find("content == lazy") == ["a.txt"])
            try drive.makeDirectory("d")
            try drive.rename("a.txt", "d/c.txt")
            #expect(try await content.read() == [])
            #expect(try await content.find("content == lazy") == ["d/c.txt"])
            try drive.rename("d/c.txt", "d/c.png")
            #expect(try await content.read() == [])
            #expect(try await content.find("content == lazy") == [])
            try drive.rename("d/c.png", "d/c.txt")
            #expect(try await content.read() == ["d/c.txt"])
            try drive.remove("d/c.txt")
            #expect(try await content.find("content == lazy") == [])
            #expect(try await content.read() == [])
            #expect(
                try await drive.index.read("all") { try $0.all("SELECT item FROM content.read") { $0.integer(0) } }
                    == [])
        }
    }

    @Test("Empty, ephemeral and open documents are left alone; one that is closed is read")
    func unread() async throws {
        try await ContentDrive.use { content in
            let drive = content.drive
            try drive.create("empty.txt")
            try drive.create("draft.txt~", "word")
            try drive.create("open.txt")
            try drive.write("open.txt", "word", writersOpen: true)
            #expect(try await content.read() == [])
            try drive.closed("open.txt")
            #expect(try await content.read() == ["open.txt"])
            #expect(try await content.find("content == word") == ["open.txt"])
            drive.clock.advance(seconds: 1)
            try drive.write("open.txt", "")
            #expect(try await content.read() == [])
            #expect(try await content.find("content == word") == [])
        }
    }

    @Test("A document without words is not read again; one that is handed back is")
    func again() async throws {
        try await ContentDrive.use { content in
            let (drive, index) = (content.drive, content.drive.index)
            try await content.read()
            try drive.create("a.txt", "word")
            try await index.settle()
            func work() async throws -> [ContentDocument] {
                try await index.contentWork(limit: 10) { $0.conforms(to: .text) }.documents
            }
            let first = try await work()
            #expect(first.count == 1)
            #expect(try await work().isEmpty)
            index.handBackContent(first)
            #expect(try await work() == first)
            try await index.noteContent([ContentReading(first[0], text: nil)])
            index.handBackContent(first)
            #expect(try await work().isEmpty)
            #expect(try await content.find("content == word") == [])
        }
    }

    @Test("Words of a document stay when its content goes from here")
    func evicted() async throws {
        try await ContentDrive.use { content in
            try content.install("a.txt", "word", dataless: false)
            #expect(try await content.read() == ["a.txt"])
            try content.install("a.txt", "word", dataless: true)
            #expect(try await content.read() == [])
            #expect(try await content.drive.item("a.txt").local.isDataless)
            #expect(try await content.find("content == word && dataless == true") == ["a.txt"])
            try content.install("a.txt", "word", dataless: false)
            #expect(try await content.read() == [])
            #expect(try await content.find("content == word") == ["a.txt"])
        }
    }

    @Test("What was missed while nothing ran is found at the start; with another index all is read anew")
    func restart() async throws {
        let first = try ContentDrive()
        let directory = first.drive.directory
        defer { removeTree(directory) }
        for name in ["a", "b", "c"] {
            try first.drive.create(RelativePath(stringLiteral: "\(name).txt"), "old \(name)")
        }
        #expect(try await first.read().count == 3)
        first.drive.index.close()
        try Data("new b".utf8).write(to: URL(filePath: first.drive.store + "/b.txt"))
        try FileManager.default.removeItem(atPath: first.drive.store + "/c.txt")
        let second = try ContentDrive(at: directory)
        _ = await second.drive.rescan()
        #expect(try await second.read() == ["b.txt"])
        #expect(try await second.find("content == old") == ["a.txt"])
        #expect(try await second.find("content == new") == ["b.txt"])
        second.drive.index.close()
        try FileManager.default.removeItem(atPath: second.drive.indexPath)
        let third = try ContentDrive(at: directory)
        _ = await third.drive.rescan()
        #expect(try await third.read() == ["a.txt", "b.txt"])
        #expect(try await third.find("content == old") == ["a.txt"])
        let count = try await third.drive.index.read("all") {
            try $0.first("SELECT count(*) FROM content.words") { $0.integer(0) }
        }
        #expect(count == 2)
        third.drive.index.close()
    }

    @Test("What cannot be forgotten for now loses nothing that is to be read")
    func forgettingFails() async throws {
        let first = try ContentDrive()
        let directory = first.drive.directory
        defer { removeTree(directory) }
        try first.drive.create("a.txt", "old")
        try await first.read()
        first.drive.index.close()
        // While words are not kept: only comparing all finds what changed.
        let without = try TestDrive(at: directory)
        without.clock.advance(seconds: 1)
        try without.write("a.txt", "")
        try without.create("b.txt", "new")
        without.index.close()
        let second = try ContentDrive(at: directory)
        let index = second.drive.index
        func refuse(_ isRefused: Bool) throws {
            try index.content?.store.database.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA query_only = \(isRefused ? 1 : 0)")
            }
        }
        try refuse(true)
        await #expect(throws: IndexError.self) { try await second.read() }
        try refuse(false)
        #expect(try await second.read() == ["b.txt"])
        #expect(try await second.find("content == old || content == new") == ["b.txt"])
        index.close()
    }

    @Test("A damaged file of words is made anew")
    func damaged() async throws {
        let first = try ContentDrive()
        let directory = first.drive.directory
        defer { removeTree(directory) }
        try first.drive.create("a.txt", "word")
        try await first.read()
        first.drive.index.close()
        try Data(repeating: 0x55, count: 20_000).write(to: URL(filePath: directory + "/content.sqlite"))
        let second = try ContentDrive(at: directory)
        #expect(try await second.find("content == word") == [])
        #expect(try await second.read() == ["a.txt"])
        #expect(try await second.find("content == word") == ["a.txt"])
        second.drive.index.close()
    }

    @Test("Nobody else may read what is kept of documents' words, from the beginning")
    func ownersOnly() async throws {
        try await ContentDrive.use { content in
            try content.drive.create("a.txt", "word")
            try await content.read()
            for suffix in ["", "-wal", ".open"] {
                var status = stat()
                #expect(lstat(content.drive.directory + "/content.sqlite" + suffix, &status) == 0, "\(suffix)")
                #expect(status.st_mode & 0o777 == 0o600, "\(suffix)")
            }
        }
    }

    /// What some document says.
    private static func reading(_ id: ItemID, _ text: String) -> ContentReading {
        ContentReading(
            ContentDocument(
                id: id, path: "a", type: .data, size: ByteCount(1), mtime: .unknown, generation: 1, typeID: 1),
            text: text)
    }

    @Test("Damage that is met while the words are kept is known to the next start, though they were closed")
    func damagedMeanwhile() throws {
        let directory = try TestDrive.makeDirectory()
        defer { removeTree(directory) }
        let path = directory + "/content.sqlite"
        func open() throws -> ContentStore { try ContentStore(at: path, logger: Logger(label: "test")) }
        let readings = (1...40).map { id in
            Self.reading(ItemID(id), (0..<400).map { "word\(id)x\($0)" }.joined(separator: " "))
        }
        let first = try open()
        try first.note(readings)
        try first.close()
        // Nothing of it is in memory.
        let second = try open()
        try Self.damage(path)
        #expect { try second.note(readings) } throws: { ($0 as? IndexError)?.code == .corrupt }
        try? second.close()
        let third = try open()
        #expect(throws: Never.self) { try third.note(readings) }
        try third.close()
    }

    @Test("What the disk does not give to who notes words is looked for at the next start, though they were closed")
    func unreadMeanwhile() throws {
        let directory = try TestDrive.makeDirectory()
        defer { removeTree(directory) }
        let path = directory + "/content.sqlite"
        FailingReads.prepare()
        func open() throws -> ContentStore { try ContentStore(at: path, logger: Logger(label: "test")) }
        let readings = (1...40).map { id in
            Self.reading(ItemID(id), (0..<400).map { "word\(id)x\($0)" }.joined(separator: " "))
        }
        let first = try open()
        try first.note(readings)
        try first.close()
        // Nothing of it is in memory.
        let second = try open()
        let inode = try FailingReads.begin(path)
        #expect { try second.note(readings) } throws: { ($0 as? IndexError)?.isOfReading == true }
        FailingReads.end(inode)
        try second.close()
        #expect(FileManager.default.fileExists(atPath: path + ".open"))
    }

    @Test("The text of documents that went takes no room")
    func roomAgain() throws {
        let directory = try TestDrive.makeDirectory()
        defer { removeTree(directory) }
        let store = try ContentStore(at: directory + "/content.sqlite", logger: Logger(label: "test"))
        let empty = try store.size()
        for id in 1...20 as ClosedRange<Int64> {
            let text = (0..<4000).map { "words\($0 % 100)" }.joined(separator: " ")
            try store.note([Self.reading(ItemID(id), text)])
        }
        let full = try store.size()
        try store.forget(Array(1...20))
        #expect(try store.size().bytes - empty.bytes < (full.bytes - empty.bytes) / 2)
        try store.close()
    }

    @Test("Damage that a query meets is found by the next start, and the words are read anew")
    func damagedForQueries() async throws {
        let first = try ContentDrive()
        let directory = first.drive.directory
        defer { removeTree(directory) }
        for number in 0..<20 {
            let text = (0..<400).map { "word\(number)x\($0)" }.joined(separator: " ")
            try first.drive.create(RelativePath(stringLiteral: "\(number).txt"), text)
        }
        #expect(try await first.read().count == 20)
        first.drive.index.close()
        let second = try ContentDrive(at: directory)
        try Self.damage(directory + "/content.sqlite")
        await #expect { try await second.find("content == word7x7") } throws: {
            ($0 as? IndexError)?.code == .corrupt
        }
        // The index was looked at, and is whole.
        try await second.drive.index.settle()
        await #expect { try await second.find("content == word7x7") } throws: {
            let error = $0 as? IndexError
            return error?.code == .corrupt && error?.message.contains("`quire unmount` and `quire mount`") == true
        }
        second.drive.index.close()
        let third = try ContentDrive(at: directory)
        #expect(try await third.read().count == 20)
        #expect(try await third.find("content == word7x7") == ["7.txt"])
        third.drive.index.close()
    }

    /// Writes over all but the first page.
    private static func damage(_ path: String) throws {
        let size = try #require(try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x55, count: size - 4096))
        try file.close()
    }

    @Test("A running query is told when words come and go")
    func live() async throws {
        try await ContentDrive.use { content in
            let index = content.drive.index
            let live = LiveQueries(
                index, transfers: { [:] }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let (query, found) = try await live.start(ItemQuery(predicate: try QueryParser.parse("content == word")))
            #expect(found.isEmpty)
            try content.drive.create("a.txt", "a word")
            try await content.read()
            await live.settle()
            #expect(query.take().values.map(\.self) == [.added])
            content.drive.clock.advance(seconds: 1)
            try content.drive.write("a.txt", "nothing of the kind")
            try await content.read()
            await live.settle()
            #expect(query.take().values.map(\.self) == [.removed(from: "a.txt")])
        }
    }

    @Test("Where more changed than is remembered, all are compared")
    func many() throws {
        let queue = ContentQueue()
        queue.continued(try #require(queue.pass), to: nil)
        #expect(queue.isEmpty)
        queue.putBack(Array(1...20_000))
        #expect(queue.pass == nil && !queue.isEmpty)
        queue.putBack([20_001])
        let pass = try #require(queue.pass)
        #expect(pass.after == .min && queue.take(1).isEmpty)
        // One that was under way goes on as the newer.
        queue.continued(pass, to: 7)
        queue.putBack(Array(1...20_001))
        queue.continued(.init(number: pass.number, after: 7), to: 9)
        #expect(queue.pass?.after == .min)
    }

    // MARK: The language

    @Test(
        "What a pattern finds in a text",
        arguments: [
            (#""fox""#, true), (#""FOX""#, true), (#""fo""#, false), (#""fo*""#, true), (#""*fox*""#, true),
            (#""quick brown""#, true), (#""quick   BROWN f*""#, true), (#""brown quick""#, false),
            (#""*quick brown fo*""#, true), (#""cafe""#, true), (#""CAFÉ"cd"#, true), (#""café"w"#, true),
            (#""fox *""#, true), (#""fo *""#, false), (#""fox-trot""#, true), (#""trot fox""#, false),
            (#""東京""#, true), (#""京都""#, true), (#""東都""#, false), (#""rock \* roll""#, true), (#""a\"b""#, true),
        ])
    func patterns(pattern: String, isFound: Bool) async throws {
        try await ContentDrive.use { content in
            try content.drive.create(
                "a.txt", "The quick brown fox trot in the Cafe\u{301}; 東京都 rock & roll, 'a b'")
            try await content.read()
            #expect(try await content.find("content == \(pattern)") == (isFound ? ["a.txt"] : []))
            #expect(try await content.find("content != \(pattern)") == (isFound ? [] : ["a.txt"]))
        }
    }

    @Test(
        "What is no condition on words",
        arguments: [
            #"content < "a""#, "InRange(content, a, b)", #"content == "a*b""#, #"content == "wor?""#, #"content == """#,
            #"content == "*""#, #"content == ", .""#, #"content == "a"x"#, "content == ",
            "content == \"" + String(repeating: "word ", count: 101) + "\"",
            Array(repeating: "content == a", count: 101).joined(separator: " || "),
        ])
    func refused(expression: String) {
        #expect(throws: QueryError.self) { try QueryParser.parse(expression) }
    }

    @Test("Bytes that stand for something in FTS5 or in C are text like any other")
    func special() async throws {
        try await ContentDrive.use { content in
            try content.drive.create("a.txt", "word AND OR NOT NEAR text:word ^ + - ( )")
            try await content.read()
            for text in [#"word \" OR NOT"#, "text:word", "NEAR(text", "^word", "word\0and", "AND"] {
                let query = ItemQuery(
                    predicate: .compare(.content, .equal, .words(try #require(WordPattern(text)))))
                _ = try await content.drive.index.find(query)
            }
            #expect(try await content.find(#"content == "NEAR text""#) == ["a.txt"])
        }
    }
}
