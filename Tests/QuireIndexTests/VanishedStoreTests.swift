import Glibc
import QuireCore
import Testing

@testable import QuireIndex

@Suite("A store that has vanished")
struct VanishedStoreTests {
    /// How few documents went while no index was open.
    enum Loss: CaseIterable {
        case directory, content, all

        func happen(_ drive: TestDrive) throws {
            switch self {
            case .directory:
                removeTree(drive.store)
                guard mkdir(drive.store, 0o755) == 0 else { throw TestError("mkdir") }
            case .content: for name in ["dir", "a", "b"] { removeTree(drive.store + "/" + name) }
            case .all:
                try Loss.directory.happen(drive)
                // What the desktop makes wherever it looks.
                guard mkdir(drive.store + "/.Trash-1000", 0o755) == 0 else { throw TestError("mkdir") }
            }
        }
    }

    /// A drive with `dir/doc`, `a` and `b`, all acknowledged, whose index was closed.
    private func withClosedDrive(
        containers: ContainerLayout = .single, _ body: (TestDrive) async throws -> Void
    ) async throws {
        try await withDrive(containers: containers) { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/doc", "a", "b"] as [RelativePath] { try drive.create(path, "content of \(path)") }
            try await drive.acknowledge("dir", "dir/doc", "a", "b")
            _ = await drive.rescan()
            drive.index.close()
            drive.isWatched = false
            try await body(drive)
        }
    }

    private func reopened(_ drive: TestDrive, _ body: (TestDrive) async throws -> Void) async throws {
        let again = try TestDrive(at: drive.directory)
        defer { again.index.close() }
        try await body(again)
    }

    /// As `reopened`, while an empty store is in the place of the drive's.
    private func withStoreAside(_ drive: TestDrive, _ body: (TestDrive) async throws -> Void) async throws {
        let aside = drive.directory + "/aside"
        guard rename(drive.store, aside) == 0, mkdir(drive.store, 0o755) == 0 else { throw TestError("rename") }
        try await reopened(drive, body)
        guard rmdir(drive.store) == 0, rename(aside, drive.store) == 0 else { throw TestError("rename") }
    }

    @Test("holds all deletions, however few, until they are confirmed", arguments: Loss.allCases)
    func held(loss: Loss) async throws {
        try await withClosedDrive { drive in
            try loss.happen(drive)
            try await reopened(drive) { again in
                let report = try #require(await again.rescan())
                #expect((report.removed, report.holdsDeletes) == (4, true))
                #expect(try await again.pending().filter(\.isDeleted).isEmpty)
                #expect(try await again.index.heldDeletes() == 4)
                try await again.index.confirmDeletes()
                #expect(try await again.pending().filter(\.isDeleted).count == 4)
            }
        }
    }

    @Test("holds them also where a new directory has the number of one that is gone")
    func usedAgain() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/doc", "a"] as [RelativePath] { try drive.create(path, "content of \(path)") }
            try await drive.acknowledge("dir", "dir/doc", "a")
            _ = await drive.rescan()
            drive.isWatched = false
            for name in ["dir", "a"] { removeTree(drive.store + "/" + name) }
            guard mkdir(drive.store + "/.Trash-1000", 0o755) == 0 else { throw TestError("mkdir") }
            let number = try drive.present(".Trash-1000").inode
            let id = try await drive.item("dir").id
            try await drive.index.write("a test") { db in
                try db.run(
                    "UPDATE items SET inode = ? WHERE id = ?", .integer(Int64(bitPattern: number)),
                    .integer(id.rawValue))
            }
            drive.index.close()
            try await reopened(drive) { again in
                let report = try #require(await again.rescan())
                #expect((report.removed, report.moved, report.holdsDeletes) == (3, 0, true))
                #expect(try await again.index.heldDeletes() == 3)
            }
        }
    }

    @Test("holds them also when the daemon ended before it compared, and documents came meanwhile")
    func endedEarly() async throws {
        try await withClosedDrive { drive in
            try Loss.directory.happen(drive)
            try await reopened(drive) { again in _ = try again.create("new", "text") }
            try await reopened(drive) { again in
                _ = await again.rescan()
                let pending = try await again.pendingText()
                #expect(pending == ["new: created"])
            }
            try await reopened(drive) { again in
                _ = await again.rescan()
                let held = try await again.index.heldDeletes()
                #expect(held == 4)
            }
        }
    }

    @Test("holds nothing once it is back")
    func back() async throws {
        try await withClosedDrive { drive in
            try await withStoreAside(drive) { _ in }
            try await reopened(drive) { again in
                _ = await again.rescan()
                try again.remove("a")
                #expect(try await again.pendingText() == ["a: deleted"])
            }
        }
    }

    @Test("is not one from which some documents were deleted, or moved to one directory, while the daemon was stopped")
    func someLeft() async throws {
        try await withClosedDrive { drive in
            try drive.remove("a")
            try drive.remove("b")
            try drive.rename("dir", "folder")
            try await reopened(drive) { again in
                _ = await again.rescan()
                let pending = try await again.pendingText()
                #expect(pending == ["folder: moved", "b: deleted", "a: deleted"])
            }
        }
    }

    @Test("is not one that was emptied through the mount, or while the daemon runs")
    func emptied() async throws {
        try await withClosedDrive { drive in
            try await reopened(drive) { again in
                _ = await again.rescan()
                try again.remove("a")
                try await again.index.settle()
                again.isWatched = false
                try again.remove("b")
                try again.remove("dir/doc")
                try again.remove("dir")
                _ = await again.rescan()
                let deleted = try await again.pending().filter(\.isDeleted)
                #expect(deleted.count == 4)
            }
            try await reopened(drive) { again in
                _ = await again.rescan()
                let deleted = try await again.pending().filter(\.isDeleted)
                #expect(deleted.count == 4)
            }
        }
    }

    @Test("of a drive all of whose documents are in a container is known by what is in that")
    func container() async throws {
        let id = try #require(ContainerID("org.example.notes"))
        let layout = ContainerLayout([.init(id, at: "Notes")])
        try await withDrive(containers: layout) { drive in
            try drive.makeDirectory("Notes")
            for path in ["Notes/a", "Notes/b"] as [RelativePath] {
                try drive.create(path, "x")
                try await drive.index.settle()
                let item = try #require(try await drive.index.item(at: path))
                let other = RelativePath([try #require(path.name)])
                drive.index.record(
                    .acknowledged(
                        .init(
                            item: item.id, base: try drive.base(path, container: id, at: other),
                            fingerprint: try drive.present(path).fingerprint, writersOpen: false)))
            }
            try await drive.index.settle()
            drive.index.close()
            drive.isWatched = false
            try drive.remove("Notes/a")
            let again = try TestDrive(containers: layout, at: drive.directory)
            _ = await again.rescan()
            #expect(try await again.pending(id).filter(\.isDeleted).count == 1)
            again.index.close()
            try drive.remove("Notes/b")
            let third = try TestDrive(containers: layout, at: drive.directory)
            defer { third.index.close() }
            _ = await third.rescan()
            #expect(try await third.pending(id).filter(\.isDeleted).isEmpty)
            #expect(try await third.index.heldDeletes() == 2)
        }
    }

    @Test("a new document in the place of one that went with it is another", arguments: [true, false])
    func newInItsPlace(isCompared: Bool) async throws {
        try await withClosedDrive { drive in
            try Loss.directory.happen(drive)
            try await reopened(drive) { again in
                if isCompared { _ = await again.rescan() }
                try again.create("a", "another document")
                _ = await again.rescan()
                #expect(try await again.item("a").base == nil)
                #expect(try await again.pendingText() == ["a: created"])
                // Nothing is known of what the provider has there.
                #expect(try await again.index.heldDeletes() == 3)
            }
        }
    }

    @Test("the same where that was made before the daemon started, in another directory than the store was")
    func newBeforeStart() async throws {
        try await withClosedDrive { drive in
            let (new, gone) = (drive.directory + "/new", drive.directory + "/gone")
            guard mkdir(new, 0o755) == 0, rename(drive.store, gone) == 0, rename(new, drive.store) == 0 else {
                throw TestError("rename")
            }
            try drive.create("a", "another document")
            try drive.setTimeQuietly("a", seconds: 1_700_000_000)
            try await reopened(drive) { again in
                _ = await again.rescan()
                let (item, pending) = (try await again.item("a"), try await again.pendingText())
                #expect(item.base == nil)
                #expect(pending == ["a: created"])
            }
        }
    }

    @Test("is not one that was copied to another directory, whatever of it was edited")
    func copied() async throws {
        try await withClosedDrive { drive in
            let (new, gone) = (drive.directory + "/new", drive.directory + "/gone")
            guard mkdir(new, 0o755) == 0, rename(drive.store, gone) == 0, rename(new, drive.store) == 0,
                rename(gone + "/a", drive.store + "/a") == 0, rename(gone + "/b", drive.store + "/b") == 0
            else { throw TestError("rename") }
            try drive.replace("a", "edited")
            try await reopened(drive) { again in
                _ = await again.rescan()
                let (item, held) = (try await again.item("a"), try await again.index.heldDeletes())
                #expect(item.base?.path == "a")
                #expect(held == 0)
            }
        }
    }

    @Test("what is saved and replaced while deletions are held stays the document that it is")
    func edited() async throws {
        try await withClosedDrive { drive in
            try Loss.directory.happen(drive)
            try await reopened(drive) { again in
                _ = await again.rescan()
                try again.create("new", "text")
                try await again.acknowledge("new")
                let before = try await again.item("new")
                try again.remove("new")
                try again.create("new", "edited")
                #expect(try await again.item("new").id == before.id)
                #expect(try await again.item("new").base == before.base)
            }
        }
    }

    @Test("has its tags again when it is back after it was compared")
    func tags() async throws {
        try await withClosedDrive { drive in
            try await reopened(drive) { again in
                for path in ["a", "dir", "dir/doc"] as [RelativePath] {
                    let item = try await again.item(path)
                    try await again.index.setTags(item.id, ["red"])
                    var base = try again.base(path)
                    base.tags = ["red"]
                    again.index.record(
                        .acknowledged(
                            .init(
                                item: item.id, base: base, fingerprint: try again.present(path).fingerprint,
                                writersOpen: false)))
                }
                #expect(try await again.pendingText() == [])
            }
            try await withStoreAside(drive) { again in _ = await again.rescan() }
            try await reopened(drive) { again in
                _ = await again.rescan()
                for path in ["a", "dir", "dir/doc"] as [RelativePath] {
                    let item = try await again.item(path)
                    #expect(item.tags == ["red"])
                }
                let (pending, held) = (try await again.pending(), try await again.index.heldDeletes())
                #expect(pending.filter(\.isMetadataDirty).isEmpty)
                #expect(held == 0)
            }
        }
    }

    @Test("has its pins, and tags that no provider keeps, again when it is back after it was compared")
    func pinsAndOwnTags() async throws {
        try await withClosedDrive { drive in
            try await reopened(drive) { again in
                for path in ["a", "dir"] as [RelativePath] {
                    try await again.index.setPinned(try await again.item(path).id, true)
                }
                for path in ["a", "b"] as [RelativePath] {
                    try await again.index.setTags(try await again.item(path).id, ["red"])
                }
            }
            try await withStoreAside(drive) { again in _ = await again.rescan() }
            try await reopened(drive) { again in
                _ = await again.rescan()
                for (path, isPinned, tags) in [
                    ("a", true, ["red"]), ("b", false, ["red"]), ("dir", true, []), ("dir/doc", true, []),
                ] as [(RelativePath, Bool, [String])] {
                    let item = try await again.item(path)
                    #expect(item.isPinned == isPinned)
                    #expect(item.tags == tags)
                }
                // What is taken back stays so, whatever becomes of the document.
                try await again.index.setPinned(try await again.item("a").id, false)
                try await again.index.setTags(try await again.item("b").id, [])
            }
            try await withStoreAside(drive) { again in _ = await again.rescan() }
            try await reopened(drive) { again in
                _ = await again.rescan()
                let (a, b) = (try await again.item("a"), try await again.item("b"))
                #expect(!a.isPinned && a.tags == ["red"])
                #expect(!b.isPinned && b.tags == [])
            }
        }
    }
}
