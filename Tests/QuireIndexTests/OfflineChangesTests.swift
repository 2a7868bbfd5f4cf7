import Glibc
import QuireCore
import Testing

@testable import QuireIndex

@Suite("Changes made while nobody looked")
struct OfflineChangesTests {
    /// A drive with `dir/a`, `dir/b` and `c`, all acknowledged and compared.
    private func withDocuments(_ body: (TestDrive) async throws -> Void) async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/a", "dir/b", "c"] as [RelativePath] { try drive.create(path, "content of \(path)") }
            try await drive.acknowledge("dir", "dir/a", "dir/b", "c")
            drive.isWatched = false
            try await body(drive)
        }
    }

    @Test("an index over an existing store finds everything as created")
    func freshIndex() async throws {
        try await withDrive { drive in
            drive.isWatched = false
            try drive.makeDirectory("dir")
            try drive.makeDirectory("dir/sub")
            try drive.create("dir/sub/doc", "one")
            let report = try #require(await drive.rescan())
            #expect(report.added == 3)
            #expect(report.directories == 3)
            #expect(try await drive.pendingText() == ["dir: created", "dir/sub: created", "dir/sub/doc: created"])
        }
    }

    @Test("nothing changed: nothing is pending, and a directory's own times count for nothing")
    func unchanged() async throws {
        try await withDocuments { drive in
            let report = try #require(await drive.rescan())
            #expect(report == RescanReport(directories: 2))
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("creations, edits and deletions made while nobody looked are found")
    func offlineEdits() async throws {
        try await withDocuments { drive in
            try drive.create("dir/new", "n")
            try drive.write("dir/a", "another content")
            try drive.remove("c")
            let report = try #require(await drive.rescan())
            #expect((report.added, report.changed, report.removed) == (1, 1, 1))
            #expect(try await drive.pendingText() == ["dir/a: content metadata", "dir/new: created", "c: deleted"])
        }
    }

    @Test("a file moved while nobody looked keeps its id, and is compared by content")
    func offlineMove() async throws {
        try await withDocuments { drive in
            let id = try await drive.item("dir/a").id
            try drive.rename("dir/a", "z")
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (0, 1, 0))
            #expect(try await drive.item("z").id == id)
            #expect(try await drive.pendingText() == ["z: content moved"])
        }
    }

    @Test("a directory moved while nobody looked is one pending item")
    func offlineDirectoryMove() async throws {
        try await withDocuments { drive in
            let id = try await drive.item("dir/a").id
            try drive.makeDirectory("aaa")
            try drive.rename("dir", "aaa/moved")
            _ = await drive.rescan()
            #expect(try await drive.item("aaa/moved/a").id == id)
            #expect(try await drive.pendingText() == ["aaa: created", "aaa/moved: moved"])
        }
    }

    @Test("files that changed places while nobody looked keep their ids")
    func offlineSwap() async throws {
        try await withDocuments { drive in
            let (a, b) = (try await drive.item("dir/a").id, try await drive.item("dir/b").id)
            try drive.exchange("dir/a", "dir/b")
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (0, 2, 0))
            #expect(try await drive.item("dir/a").id == b)
            #expect(try await drive.item("dir/b").id == a)
        }
    }

    @Test("a safe-save while nobody looked keeps id and base", arguments: ["tmp", ".tmp.swp"])
    func offlineSave(temporary: String) async throws {
        try await withDocuments { drive in
            let before = try await drive.item("c")
            let path = try #require(RelativePath(parsing: temporary))
            try drive.create(path, "another content")
            try drive.rename(path, "c")
            _ = await drive.rescan()
            #expect(try await drive.item("c").id == before.id)
            #expect(try await drive.pendingText() == ["c: content metadata"])
        }
    }

    @Test("renaming away and creating anew while nobody looked keeps id and base")
    func offlineBackup() async throws {
        try await withDocuments { drive in
            let before = try await drive.item("c")
            try drive.rename("c", "c~")
            try drive.create("c", "another content")
            _ = await drive.rescan()
            #expect(try await drive.item("c").id == before.id)
            #expect(try await drive.item("c~").state == .localOnly)
            #expect(try await drive.pendingText() == ["c: content metadata"])
        }
    }

    @Test("a file that became a directory is a deletion and a creation")
    func kindChange() async throws {
        try await withDocuments { drive in
            try drive.remove("c")
            try drive.makeDirectory("c")
            _ = await drive.rescan()
            #expect(try await drive.pendingText() == ["c: created", "c: deleted"])
        }
    }

    @Test(
        "what share of missing items is not believed",
        arguments: [
            (10, 10, false), (11, 22, true), (11, 23, false), (1000, 1_000_000, false), (1001, 1_000_000, true),
        ])
    func guardRule(missing: Int, total: Int, isHeld: Bool) {
        #expect(Rescan.isImplausible(missing: missing, of: total) == isHeld)
    }

    @Test("a store that is not there deletes nothing")
    func vanishedStore() async throws {
        try await withDocuments { drive in
            let parked = drive.directory + "/parked"
            #expect(rename(drive.store, parked) == 0)
            let report = try #require(await drive.rescan())
            #expect(report.failure != nil)
            #expect(try await drive.pendingText() == [])
            #expect(rename(parked, drive.store) == 0)
        }
    }

    @Test("an event that does not fit the rows has its directory compared again")
    func suspectDirectory() async throws {
        try await withDocuments { drive in
            try drive.replace("dir/a", "another inode here")
            drive.isWatched = true
            var changes = drive.index.changes().makeAsyncIterator()
            try drive.remove("dir/a")
            while try await drive.index.item(at: "dir/a") != nil { await changes.next() }
            #expect(try await drive.pendingText() == ["dir/a: deleted"])
        }
    }
}

extension RescanReport {
    fileprivate init(directories: Int) {
        self.init()
        self.directories = directories
    }
}
