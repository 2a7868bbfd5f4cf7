import CLinux
import Foundation
import Glibc
import GRDB
import QuireCore
import Testing

@testable import QuireIndex

@Suite("Types of items", .timeLimit(.minutes(2)))
struct TypeTests {
    /// Returns when the item has this type; not having it ends the test by its time limit.
    private func wait(_ drive: TestDrive, for path: RelativePath, toBe type: String) async throws {
        let changes = drive.index.changes()
        if try await drive.item(path).type.identifier == type { return }
        for await _ in changes where try await drive.item(path).type.identifier == type { return }
        Issue.record("the index ended before \(path) was \(type)")
    }

    /// Runs `body` with the same home, opened anew with other types.
    private func reopened(
        _ drive: TestDrive, types: ItemTyper = ItemTyper(TypeCatalog(MimeDatabase())),
        _ body: (TestDrive) async throws -> Void
    ) async throws {
        let again = try TestDrive(at: drive.directory, types: types)
        defer { again.index.close() }
        try await body(again)
    }

    @Test("an item has the type of its name and kind, and another when it is renamed")
    func byName() async throws {
        try await withDrive { drive in
            try drive.create("a.txt", "x")
            try drive.create("b.PNG", "no picture")
            try drive.makeDirectory("d.txt")
            try drive.makeDirectory("p.rtfd")
            #expect(try await drive.item("a.txt").type == .plainText)
            #expect(try await drive.item("b.PNG").type == .png)
            #expect(try await drive.item("d.txt").type == .folder)
            #expect(try await drive.item("p.rtfd").type == ContentType("com.apple.rtfd"))
            try drive.rename("a.txt", "a.pdf")
            #expect(try await drive.item("a.pdf").type == .pdf)
            try drive.rename("d.txt", "d.app")
            #expect(try await drive.item("d.app").type == ContentType("com.apple.application-bundle"))
            try drive.exchange("a.pdf", "b.PNG")
            #expect(try await drive.item("a.pdf").type == .pdf)
            try drive.write("a.pdf", "other")
            #expect(try await drive.item("a.pdf").type == .pdf)
            try drive.remove("a.pdf")
            try drive.makeDirectory("a.pdf")
            #expect(try await drive.item("a.pdf").type == .folder)
        }
    }

    @Test("a file whose name says nothing is data, then what its content says, and that anew when it changes")
    func byContent() async throws {
        try await withDrive { drive in
            try drive.create("notes", "hello\n")
            try await wait(drive, for: "notes", toBe: "public.utf8-plain-text")
            try drive.write("notes", "%PDF-1.7 and so on")
            try await wait(drive, for: "notes", toBe: "com.adobe.pdf")
            try drive.rename("notes", "notes.png")
            #expect(try await drive.item("notes.png").type == .png)
            try drive.rename("notes.png", "elsewhere")
            #expect(try await drive.item("elsewhere").type != .png)
            try await wait(drive, for: "elsewhere", toBe: "com.adobe.pdf")
            // Attributes are no content.
            try drive.chmod("elsewhere", 0o600)
            #expect(try await drive.item("elsewhere").type == .pdf)
        }
    }

    @Test("what stands far inside of a file is looked for where its beginning says nothing")
    func farInside() async throws {
        try await withDrive { drive in
            let mime = drive.directory + "/mime"
            mkdir(mime, 0o755)
            try "50:a/b:*.ab\n".write(toFile: mime + "/globs2", atomically: false, encoding: .utf8)
            let rule = Array("MIME-Magic\0\n[50:image/x-far]\n>32769=\0\u{5}CD001\n".utf8)
            try Data(rule).write(to: URL(fileURLWithPath: mime + "/magic"))
            drive.index.close()
            try await reopened(drive, types: ItemTyper(TypeCatalog(MimeDatabase.read([mime])))) { again in
                let zeros = String(repeating: "\0", count: 32_769)
                try again.create("far", zeros + "CD001 and more")
                try again.create("near", zeros + "nothing")
                try await wait(again, for: "far", toBe: "dyn.mime.image.x-far")
                try await again.index.typesNoted()
                let near = try await again.item("near")
                #expect(near.type == .data)
            }
        }
    }

    @Test("a file that is open for writing is looked at when it is closed")
    func openForWriting() async throws {
        try await withDrive { drive in
            try drive.create("half", "%P")
            try drive.write("half", "%PDF-1.7", writersOpen: true)
            try drive.create("other", "text")
            try await wait(drive, for: "other", toBe: "public.utf8-plain-text")
            #expect(try await drive.item("half").type == .data)
            try drive.closed("half")
            try await wait(drive, for: "half", toBe: "com.adobe.pdf")
        }
    }

    @Test("what may not be read is data, and what is not here is not looked at")
    func notHere() async throws {
        try await withDrive { drive in
            drive.isWatched = false
            try drive.create("absent", "%PDF-1.7")
            try drive.makePlaceholder("absent", size: 100_000)
            try drive.create("present", "text")
            _ = await drive.rescan()
            try await wait(drive, for: "present", toBe: "public.utf8-plain-text")
            #expect(try await drive.item("absent").type == .data)
            let query = ItemQuery(predicate: try QueryParser.parse(#"kMDItemContentType == "public.data""#))
            #expect(try await drive.index.find(query).map(\.path) == ["absent"])
            let codes = try await drive.index.read("types") {
                try $0.all("SELECT type FROM items WHERE dataless = 1") { $0.integer(0) }
            }
            #expect(codes == [TypeCode.absent])
        }
    }

    @Test("content that comes is looked at, and the type stays when it goes")
    func comesAndGoes() async throws {
        try await withDrive { drive in
            try drive.create("doc", "%PDF-1.7")
            try await drive.acknowledge("doc")
            try await wait(drive, for: "doc", toBe: "com.adobe.pdf")
            let status = try drive.present("doc")
            // Evicted: another inode of the same size and time.
            var placeholder = status
            placeholder.inode += 1_000_000
            let root = try drive.present(.root).inode
            drive.index.record(
                .committed(
                    .init(
                        .installed(parent: root, name: "doc", placeholder, dataless: true), base: try drive.base("doc"))
                ))
            #expect(try await drive.item("doc").local.isDataless)
            #expect(try await drive.item("doc").type == .pdf)
            drive.index.record(
                .committed(
                    .init(.installed(parent: root, name: "doc", status, dataless: false), base: try drive.base("doc"))))
            try await wait(drive, for: "doc", toBe: "com.adobe.pdf")
            #expect(try await !drive.item("doc").local.isDataless)
        }
    }

    @Test("what an earlier daemon did not come to is looked at by the next")
    func leftOver() async throws {
        try await withDrive { drive in
            try drive.create("doc", "text")
            try await drive.index.settle()
            drive.index.close()
            try await reopened(drive, types: ItemTyper()) { again in
                try await wait(again, for: "doc", toBe: "public.utf8-plain-text")
            }
        }
    }

    @Test("an index of a version without types gets them when it is opened")
    func migration() async throws {
        try await withDrive { drive in
            try drive.create("a.txt", "x")
            try drive.makeDirectory("d")
            let id = try await drive.item("a.txt").id
            drive.index.close()
            let queue = try DatabaseQueue(path: drive.indexPath)
            try await queue.write { db in
                try db.execute(
                    sql: """
                        DROP INDEX items_type; ALTER TABLE items DROP COLUMN type; DROP TABLE types;
                        DELETE FROM meta WHERE key = 'types'; DELETE FROM grdb_migrations WHERE identifier = 'types';
                        """)
            }
            try queue.close()
            try await reopened(drive) { again in
                #expect(again.opening == .existing)
                let (file, folder) = (try await again.item("a.txt"), try await again.item("d"))
                #expect(file.type == .plainText && file.id == id)
                #expect(folder.type == .folder)
            }
        }
    }

    @Test("names and packages that have other types than at the last start get those")
    func otherTypes() async throws {
        try await withDrive { drive in
            try drive.create("a.foo", "text")
            try drive.makeDirectory("d.box")
            #expect(try await drive.item("d.box").type == .folder)
            drive.index.close()
            mkdir(drive.directory + "/mime", 0o755)
            try "50:image/x-foo:*.foo\n".write(
                toFile: drive.directory + "/mime/globs2", atomically: false, encoding: .utf8)
            let types = ItemTyper(
                TypeCatalog(MimeDatabase.read([drive.directory + "/mime"])), packages: PackageNames(extensions: ["box"])
            )
            try await reopened(drive, types: types) { again in
                let (file, directory) = (try await again.item("a.foo"), try await again.item("d.box"))
                #expect(file.type.identifier == "dyn.mime.image.x-foo")
                #expect(directory.type == .package)
            }
        }
    }

    @Test("queries ask for types, by the database as item by item")
    func queries() async throws {
        try await withDrive { drive in
            for name in ["a.png", "b.jpg", "c.txt"] { try drive.create(try #require(RelativePath(parsing: name)), "x") }
            try drive.makeDirectory("e")
            try await drive.index.settle()
            func names(_ condition: String) async throws -> [RelativePath] {
                let predicate = try QueryParser.parse(condition)
                let found = try await drive.index.find(ItemQuery(predicate: predicate))
                let naive = try await drive.index.find(ItemQuery()).filter { item in
                    predicate.matches { item.value(of: $0, state: item.state) }
                }
                #expect(found == naive, "\(condition)")
                return found.map(\.path)
            }
            #expect(try await names(#"kMDItemContentTypeTree == "public.image""#) == ["a.png", "b.jpg"])
            #expect(try await names(#"kMDItemContentTypeTree = "PUBLIC.IM*"c"#) == ["a.png", "b.jpg"])
            #expect(try await names(#"kMDItemContentType == "public.plain-text""#) == ["c.txt"])
            #expect(try await names(#"kMDItemContentTypeTree == "public.text""#) == ["c.txt"])
            #expect(try await names(#"contentType == "public.folder""#) == ["e"])
            #expect(try await names(#"kMDItemKind == "png image"c"#) == ["a.png"])
            #expect(try await names(#"kMDItemContentTypeTree != "public.data""#) == ["e"])
            #expect(try await names("contentType == nothing") == [])
        }
    }
}
