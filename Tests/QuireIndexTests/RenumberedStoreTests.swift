import CLinux
import Glibc
import QuireCore
import Synchronization
import Testing

@testable import QuireIndex

/// A home that was copied to another disk, or restored, has other inode numbers: those that the index knows are other
/// entries', or nobody's.
@Suite("A store whose inodes are numbered anew")
struct RenumberedStoreTests {
    /// Makes a document of which only the placeholder is here.
    private func createDataless(_ drive: TestDrive, _ path: RelativePath, version: String) async throws {
        try drive.create(path, "content")
        try await drive.acknowledge(path, version: version)
        try drive.evict(path, version: version)
        try await drive.index.settle()
    }

    /// Makes the directories `one` and `two`, each with a `doc` of which only the placeholder is here.
    private func createDirectories(_ drive: TestDrive) async throws {
        for path in ["one", "two"] as [RelativePath] { try drive.makeDirectory(path) }
        try await drive.acknowledge("one", "two")
        try await createDataless(drive, "one/doc", version: "1")
        try await createDataless(drive, "two/doc", version: "2")
    }

    /// Has the index believe that the inode of the item at `path` was another.
    private func renumber(_ drive: TestDrive, _ path: RelativePath, _ inode: UInt64) async throws {
        let id = try await drive.item(path).id
        try await drive.index.write("a test") { db in
            try db.run(
                "UPDATE items SET inode = ? WHERE id = ?", .integer(Int64(bitPattern: inode)), .integer(id.rawValue))
        }
    }

    private func ids(_ drive: TestDrive, _ paths: [RelativePath]) async throws -> [ItemID] {
        var ids: [ItemID] = []
        for path in paths { ids.append(try await drive.item(path).id) }
        return ids
    }

    /// Compares, and expects that nothing has changed.
    private func expectNothing(_ drive: TestDrive, _ paths: [RelativePath], _ before: [ItemID]) async throws {
        let report = try #require(await drive.rescan())
        #expect((report.added, report.moved, report.removed) == (0, 0, 0))
        #expect(try await drive.pendingText() == [])
        #expect(try await ids(drive, paths) == before)
        for path in paths {
            let item = try await drive.item(path)
            #expect(item.base?.path == path)
            #expect(try drive.present(path).inode == item.local.inode)
        }
    }

    @Test("documents that are not here stay what their marks name, whoever has their numbers")
    func files() async throws {
        try await withDrive { drive in
            let paths: [RelativePath] = ["a", "b"]
            for (path, version) in zip(paths, ["1", "2"]) {
                try await createDataless(drive, path, version: version)
            }
            let before = try await ids(drive, paths)
            try await renumber(drive, "b", try drive.present("a").inode)
            try await renumber(drive, "a", 999_999)
            try await expectNothing(drive, paths, before)
        }
    }

    @Test("a directory is not taken for the one whose number it has, with what lies in it")
    func directories() async throws {
        try await withDrive { drive in
            let paths: [RelativePath] = ["one", "two", "one/doc", "two/doc"]
            try await createDirectories(drive)
            let before = try await ids(drive, paths)
            try await renumber(drive, "two", try drive.present("one").inode)
            try await renumber(drive, "one", 999_999)
            try await renumber(drive, "two/doc", try drive.present("one/doc").inode)
            try await renumber(drive, "one/doc", 888_888)
            try await expectNothing(drive, paths, before)
        }
    }

    @Test("where the drive's directory itself is another one, numbers that happen to have changed places say nothing")
    func otherRoot() async throws {
        try await withDrive { drive in
            let paths: [RelativePath] = ["one", "two", "one/doc", "two/doc"]
            try await createDirectories(drive)
            let before = try await ids(drive, paths)
            for (path, other) in [("one", "two"), ("two", "one"), ("one/doc", "two/doc"), ("two/doc", "one/doc")] {
                let source = try #require(RelativePath(parsing: other))
                try await renumber(drive, try #require(RelativePath(parsing: path)), try drive.present(source).inode)
            }
            try await drive.index.write("a test") { try $0.run("UPDATE items SET inode = 777777 WHERE role = 2") }
            try await expectNothing(drive, paths, before)
        }
    }

    @Test("directories and placeholders that did change places while nobody looked keep their ids")
    func swapped() async throws {
        try await withDrive { drive in
            try await createDirectories(drive)
            try await createDataless(drive, "a", version: "3")
            try await createDataless(drive, "b", version: "4")
            let before = try await ids(drive, ["one", "two", "one/doc", "two/doc", "a", "b"])
            drive.isWatched = false
            try drive.exchange("one", "two")
            try drive.exchange("a", "b")
            _ = await drive.rescan()
            #expect(try await ids(drive, ["two", "one", "two/doc", "one/doc", "b", "a"]) == before)
            #expect(try await drive.pendingText() == ["a: moved", "b: moved", "one: moved", "two: moved"])
        }
    }

    @Test("where only the system's word for the file system is another, what was moved is followed")
    func otherWord() async throws {
        try await withDrive { drive in
            for path in ["doc", "stays"] as [RelativePath] { try drive.create(path, "content") }
            try await drive.acknowledge("doc", "stays")
            _ = await drive.rescan()
            let before = try await drive.item("doc").id
            drive.isWatched = false
            try drive.rename("doc", "moved")
            try await drive.index.write("a test") { try $0.setMeta(MetaKey.filesystem, "1.1") }
            _ = await drive.rescan()
            #expect(try await drive.item("moved").id == before)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
        }
    }

    @Test(
        "a placeholder whose version went on since it was made is followed where it was moved to",
        arguments: ["2", "1"])
    func laterVersion(version: String) async throws {
        try await withDrive { drive in
            for path in ["one", "two"] as [RelativePath] { try drive.makeDirectory(path) }
            try await drive.acknowledge("one", "two")
            try await createDataless(drive, "one/doc", version: "1")
            try await drive.acknowledge("one/doc", version: version)
            let before = try await ids(drive, ["one/doc"])
            drive.isWatched = false
            try drive.rename("one/doc", "two/other")
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (0, 1, 0))
            #expect(try await ids(drive, ["two/other"]) == before)
            #expect(try await drive.item("two/other").base?.version == ProviderVersion(version))
            #expect(try await drive.pendingText() == ["two/other: moved"])
        }
    }

    @Test("where numbers are dealt out anew, its content's checksum tells the same", arguments: [true, false])
    func laterVersionByChecksum(isSame: Bool) async throws {
        try await withDrive { drive in
            let checksum = ContentChecksum(bytes: Array(0..<32))
            try await createDataless(drive, "a", version: "1")
            let mark = Placeholder(version: ProviderVersion("1"), container: .default, checksum: checksum).encoded
            #expect(setxattr(drive.store + "/a", StoreAttribute.placeholder, mark, mark.count, 0) == 0)
            try drive.chmod("a", 0o644)
            try await drive.acknowledge("a", version: "2")
            let known = isSame ? checksum : ContentChecksum(bytes: Array(1..<33))
            let before = try await drive.item("a").id
            try await drive.index.write("a test") { db in
                try db.run("UPDATE bases SET checksum = ?", .blob(try #require(known).bytes))
                try db.setMeta(MetaKey.renumbered, "1")
            }
            drive.isWatched = false
            try drive.rename("a", "b")
            _ = await drive.rescan()
            #expect(try await (drive.item("b").id == before) == isSame)
        }
    }

    @Test("a placeholder that was moved over another, with another document in its place, is followed by its mark")
    func movedOver() async throws {
        try await withDrive { drive in
            try await createDataless(drive, "a", version: "1")
            try await createDataless(drive, "b", version: "2")
            let before = try await drive.item("a").id
            drive.isWatched = false
            try drive.rename("a", "b")
            try drive.create("a", "another document")
            _ = await drive.rescan()
            #expect(try await drive.item("b").id == before)
            #expect(try await drive.item("b").base?.version == ProviderVersion("1"))
            #expect(try await drive.item("a").base == nil)
        }
    }

    @Test(
        "a new document that has the number of another, and its size, leaves that where it is, whichever comes first",
        arguments: ["early", "late"] as [RelativePath], [true, false])
    func numberOfAnother(new: RelativePath, isDataless: Bool) async throws {
        try await withDrive { drive in
            // None of them is in the tick of another.
            drive.isWatched = false
            try drive.create("early", "another")
            try drive.setTimeQuietly("early", seconds: 1_700_000_000)
            drive.isWatched = true
            try drive.create("doc", "content")
            try await drive.acknowledge("doc")
            if isDataless { try drive.evict("doc") }
            let before = try await drive.item("doc")
            drive.isWatched = false
            try drive.create("late", "another")
            try drive.setTimeQuietly("late", seconds: 1_700_000_001)
            try await renumber(drive, "doc", try drive.present(new).inode)
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (2, 0, 0))
            let after = try await drive.item("doc")
            #expect((after.id, after.base, after.local.isDataless) == (before.id, before.base, isDataless))
            #expect(try await drive.item(new).base == nil)
            #expect(try await drive.pending().filter { $0.isDeleted || $0.isMoved }.isEmpty)
        }
    }

    @Test(
        "a placeholder that was moved is found also where a new file has its number, or its directory's, before",
        arguments: [("doc", "moved"), ("one/doc", "three/doc")] as [(RelativePath, RelativePath)])
    func numberTaken(from: RelativePath, to: RelativePath) async throws {
        try await withDrive { drive in
            try await createDirectories(drive)
            try await createDataless(drive, "doc", version: "3")
            try await drive.index.setTags(drive.item(from).id, ["red"])
            let before = try await drive.item(from)
            drive.isWatched = false
            try drive.rename("one", "three")
            try drive.rename("doc", "moved")
            drive.isWatched = true
            drive.delayed.withLock { $0 = [] }
            try drive.create("new", "text")
            let new = try drive.present("new").inode
            try await renumber(drive, "one", from == "doc" ? 999_999 : new)
            try await renumber(drive, "one/doc", 888_888)
            try await renumber(drive, "doc", from == "doc" ? new : 777_777)
            let events = try #require(drive.delayed.withLock { $0 })
            for event in events { drive.index.record(event) }
            _ = await drive.rescan()
            let after = try await drive.item(to)
            #expect((after.id, after.base, after.tags) == (before.id, before.base, ["red"]))
            #expect(try await drive.item("new").base == nil)
            #expect(try await drive.pending().filter(\.isDeleted).map(\.base?.path) == ["one"])
        }
    }
}
