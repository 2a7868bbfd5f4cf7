import Glibc
import QuireCore
import Testing

@testable import QuireIndex

/// A placeholder that was moved while nobody looked stands for the provider's version wherever it lies; what took its place
/// is another document.
@Suite("Placeholders that were moved away, with something new in their place")
struct MovedPlaceholderTests {
    /// A drive with directories `dir` and `other`, and placeholders at `paths`; what is done then is not told.
    private func withPlaceholders(
        _ paths: RelativePath..., body: (TestDrive) async throws -> Void
    ) async throws {
        try await withDrive { drive in
            for path in ["dir", "other"] as [RelativePath] {
                try drive.makeDirectory(path)
                try await drive.acknowledge(path)
            }
            for path in paths {
                try drive.create(path, "content")
                try await drive.acknowledge(path)
                try drive.evict(path)
                try await drive.index.settle()
            }
            drive.isWatched = false
            try await body(drive)
        }
    }

    /// Expects the placeholder to be what it was before, and what is at its former place to be a new item.
    private func expectMoved(
        _ drive: TestDrive, _ before: IndexItem, from: RelativePath, to: RelativePath
    ) async throws {
        let after = try await drive.item(to)
        #expect(after.id == before.id)
        #expect(after.local.isDataless)
        #expect(after.base?.path == from)
        #expect(after.base?.version == before.base?.version)
        let new = try await drive.item(from)
        #expect(new.id != before.id)
        #expect(new.base == nil)
        #expect(try new.local.inode == drive.present(from).inode)
        #expect(try await drive.pending().filter { $0.isDeleted || $0.isContentDirty && !$0.isCreated }.isEmpty)
    }

    @Test(
        "it is the same item, whichever directory is listed first",
        arguments: [
            ("c", "dir/z"), ("dir/c", "z"), ("dir/c", "other/z"), ("other/c", "dir/z"), ("c", "z"),
        ] as [(RelativePath, RelativePath)])
    func file(from: RelativePath, to: RelativePath) async throws {
        try await withPlaceholders(from) { drive in
            let before = try await drive.item(from)
            try drive.rename(from, to)
            try drive.create(from, "another document")
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (1, 1, 0))
            try await expectMoved(drive, before, from: from, to: to)
            #expect(try await Set(drive.pendingText()) == ["\(from): created", "\(to): moved"])
        }
    }

    @Test(
        "also where what took its place is known, and was not uploaded yet",
        arguments: ["dir/z", "z"] as [RelativePath])
    func temporary(to: RelativePath) async throws {
        try await withPlaceholders("c") { drive in
            drive.isWatched = true
            try drive.create("new", "another document")
            try await drive.index.settle()
            drive.isWatched = false
            let before = try await drive.item("c")
            try drive.rename("c", to)
            try drive.rename("new", "c")
            _ = await drive.rescan()
            try await expectMoved(drive, before, from: "c", to: to)
            #expect(try await drive.find("new") == nil)
        }
    }

    @Test("also where that is a directory")
    func otherKind() async throws {
        try await withPlaceholders("c") { drive in
            let before = try await drive.item("c")
            try drive.rename("c", "dir/z")
            try drive.makeDirectory("c")
            try drive.create("c/doc", "another document")
            _ = await drive.rescan()
            try await expectMoved(drive, before, from: "c", to: "dir/z")
            #expect(try await Set(drive.pendingText()) == ["c: created", "c/doc: created", "dir/z: moved"])
        }
    }

    @Test(
        "the same with all placeholders of a directory, where a new one is at its place",
        arguments: [("sub", "dir/e"), ("dir/sub", "e"), ("dir/sub", "other/e"), ("other/sub", "dir/e")]
            as [(String, String)])
    func directory(from: String, to: String) async throws {
        let (old, new) = (try #require(RelativePath(parsing: from)), try #require(RelativePath(parsing: to)))
        let doc: FileName = "doc"
        try await withPlaceholders { drive in
            drive.isWatched = true
            try drive.makeDirectory(old)
            try await drive.acknowledge(old)
            try drive.create(old.appending(doc), "content")
            try await drive.acknowledge(old.appending(doc))
            try drive.evict(old.appending(doc))
            let before = try await drive.item(old.appending(doc))
            drive.isWatched = false
            try drive.rename(old, new)
            try drive.makeDirectory(old)
            try drive.create(old.appending(doc), "another document")
            _ = await drive.rescan()
            let after = try await drive.item(new.appending(doc))
            #expect(after.id == before.id)
            #expect(after.local.isDataless)
            #expect(after.base?.version == before.base?.version)
            #expect(try await drive.item(old.appending(doc)).base == nil)
            let pending = try await drive.pendingText()
            #expect(pending.contains("\(old.appending(doc)): created"))
            #expect(!pending.contains { $0.hasSuffix("deleted") })
        }
    }

    /// Its content is to be uploaded, and nothing else. Whether its time is another, too, depends on the clock's tick.
    private func expectEdited(_ drive: TestDrive, _ path: RelativePath) async throws {
        let pending = try await drive.pendingText()
        #expect(pending == ["\(path): content"] || pending == ["\(path): content metadata"])
    }

    @Test("where the placeholder is nowhere, what replaced it is the document's new content", arguments: [true, false])
    func replaced(isKnown: Bool) async throws {
        try await withPlaceholders("c") { drive in
            drive.isWatched = isKnown
            try drive.create("new", "another content")
            try await drive.index.settle()
            drive.isWatched = false
            let before = try await drive.item("c")
            try drive.rename("new", "c")
            let report = try #require(await drive.rescan())
            #expect(report.removed == 0)
            #expect(try await drive.item("c").id == before.id)
            #expect(try await drive.find("new") == nil)
            try await expectEdited(drive, "c")
        }
    }

    @Test("where it may lie in what cannot be looked at, that is decided once it can be", arguments: [true, false])
    func unread(isMoved: Bool) async throws {
        try await withPlaceholders("c") { drive in
            let before = try await drive.item("c")
            if isMoved { try drive.rename("c", "dir/z") }
            try drive.replace("c", "another document")
            drive.faults.lock("dir", error: EACCES)
            let report = try #require(await drive.rescan())
            #expect(report.unread.map(\.path) == ["c", "dir"])
            #expect(try await !drive.index.isRescanned(.root))
            #expect(try await drive.pendingText() == [])
            drive.faults.end()
            _ = await drive.rescan()
            if isMoved {
                try await expectMoved(drive, before, from: "c", to: "dir/z")
            } else {
                #expect(try await drive.item("c").id == before.id)
                try await expectEdited(drive, "c")
            }
            #expect(try await drive.index.isRescanned(.root))
        }
    }

    /// A drive with a container of its own, in which placeholders lie that its provider has the content of; what is
    /// done then is not told.
    private func withNotes(body: (TestDrive, ContainerID) async throws -> Void) async throws {
        let id = try #require(ContainerID("org.example.notes"))
        try await withDrive(containers: ContainerLayout([.init(id, at: "Notes")])) { drive in
            for path in ["Notes", "Notes/dir"] as [RelativePath] { try drive.makeDirectory(path) }
            for path in ["Notes/stays", "Notes/doc", "Notes/dir/doc", "Notes/gone"] as [RelativePath] {
                let size = path == "Notes/gone" ? 8 : 7
                try drive.create(path, "content")
                try drive.makePlaceholder(path, size: size)
                let (name, parent) = (try #require(path.name), try #require(path.parent))
                let base = try drive.base(path, container: id, at: RelativePath(path.components.dropFirst()))
                drive.index.record(
                    .committed(
                        .init(
                            .installed(
                                parent: try drive.present(parent).inode, name: name, try drive.present(path),
                                dataless: true), base: base)))
            }
            try await drive.index.settle()
            drive.isWatched = false
            try await body(drive, id)
        }
    }

    @Test(
        "and when deletions are confirmed, neither: not before it is deleted where it lies",
        arguments: [("Notes/doc", "doc"), ("Notes/dir/doc", "doc"), ("Notes/dir", "dir")]
            as [(RelativePath, RelativePath)])
    func confirmed(from: RelativePath, to: RelativePath) async throws {
        try await withNotes { drive, id in
            try drive.rename(from, to)
            try drive.remove("Notes/gone")
            if from == "Notes/dir/doc" { try drive.remove("Notes/dir") }
            _ = await drive.rescan()
            try await drive.index.confirmDeletes()
            #expect(try await drive.pendingText(id).filter { $0.hasSuffix("deleted") } == ["gone: deleted"])
            #expect(try await drive.index.heldDeletes() > 0)
            _ = await drive.rescan()
            #expect(try await drive.pendingText(id).filter { $0.hasSuffix("deleted") } == ["gone: deleted"])
            let doc: RelativePath = to == "dir" ? "dir/doc" : to
            drive.isWatched = true
            try drive.remove(doc)
            try await drive.index.settle()
            let count = try await drive.index.confirmDeletes()
            // Beside those of directories that it lay in; what is pending anyway is not confirmed again.
            #expect(from == "Notes/doc" ? count == 1 : count > 0)
            #expect(try await drive.index.confirmDeletes() == 0)
            let path: RelativePath = from == "Notes/doc" ? "doc" : "dir/doc"
            #expect(try await drive.pendingText(id).contains("\(path): deleted"))
            #expect(try await drive.index.heldDeletes() == 0)
        }
    }

    @Test("where it may stand for several, it is told of once, and none of them is deleted")
    func unclear() async throws {
        try await withNotes { drive, id in
            try drive.rename("Notes/doc", "doc")
            try drive.remove("Notes/stays")
            _ = await drive.rescan()
            #expect(try await drive.index.strandedPlaceholders(marks: [:]).map(\.path) == ["doc"])
            try await drive.index.confirmDeletes()
            #expect(try await drive.pendingText(id).filter { $0.hasSuffix("deleted") } == [])
            #expect(try await drive.index.strandedPlaceholders(marks: [:]).map(\.path) == ["doc"])
        }
    }

    @Test("what comes to its former place after that is a document beside it, and moved back it is what it was")
    func confirmedAndBack() async throws {
        try await withNotes { drive, id in
            try drive.rename("Notes/doc", "doc")
            _ = await drive.rescan()
            try await drive.index.confirmDeletes()
            try drive.rename("doc", "Notes/doc")
            _ = await drive.rescan()
            #expect(try await drive.item("Notes/doc").base?.path == "doc")
            #expect(try await drive.index.heldDeletes() == 0)
            try drive.rename("Notes/doc", "doc")
            _ = await drive.rescan()
            try await drive.index.confirmDeletes()
            drive.isWatched = true
            try drive.create("Notes/doc", "another document")
            try await drive.index.settle()
            #expect(try await drive.item("Notes/doc").base == nil)
            #expect(try await drive.pendingText(id).filter { $0.hasSuffix("deleted") } == [])
        }
    }

    @Test("what is moved to its former place after that waits for nothing: the provider refuses it")
    func confirmedAndTaken() async throws {
        try await withNotes { drive, id in
            try drive.rename("Notes/doc", "doc")
            _ = await drive.rescan()
            try await drive.index.confirmDeletes()
            drive.isWatched = true
            try drive.rename("Notes/stays", "Notes/doc")
            let moved = try #require(try await drive.pending(id).first { $0.isMoved })
            #expect(moved.path == "doc" && !moved.isIncomplete && moved.needs.isEmpty)
        }
    }

    @Test(
        "A copy of one, at a name whose deletion is pending, is not that one, whatever holds the deletion back",
        arguments: [false, true])
    func copied(isHeld: Bool) async throws {
        try await withPlaceholders("a") { drive in
            drive.isWatched = true
            try drive.create("c", "another")
            try await drive.acknowledge("c", version: "2")
            try drive.remove("c")
            try await drive.index.settle()
            drive.isWatched = false
            if isHeld { try await drive.index.write("a test") { try $0.setMeta(MetaKey.heldDeletes, "1") } }
            try drive.create("c", "content")
            try drive.evict("c", version: "1")
            _ = await drive.rescan()
            #expect(try await drive.item("c").base == nil)
            #expect(try await drive.item("a").base?.version == ProviderVersion("1"))
        }
    }

    @Test("What is back at a name whose deletion is pending, as a placeholder of that, is what it was")
    func back() async throws {
        try await withPlaceholders("a", "c") { drive in
            drive.isWatched = true
            try drive.remove("c")
            try await drive.index.settle()
            drive.isWatched = false
            try drive.create("c", "content")
            try drive.evict("c", version: "1")
            _ = await drive.rescan()
            #expect(try await drive.item("c").base?.path == "c")
            #expect(try await drive.pendingText().filter { $0.hasSuffix("deleted") } == [])
        }
    }

    @Test(
        "moved to another container, which cannot have its content, it is not deleted where that is",
        arguments: [("Notes/doc", "doc"), ("Notes/dir", "dir")] as [(RelativePath, RelativePath)])
    func otherContainer(from: RelativePath, to: RelativePath) async throws {
        try await withNotes { drive, id in
            drive.isWatched = false
            try drive.rename(from, to)
            let report = try #require(await drive.rescan())
            #expect(report.holdsDeletes)
            #expect(try await drive.pending(id).filter(\.isDeleted).isEmpty)
            try drive.rename(to, from)
            _ = await drive.rescan()
            #expect(try await drive.item("Notes/doc").base?.path == "doc")
            #expect(try await drive.item("Notes/dir/doc").base?.path == "dir/doc")
            #expect(try await drive.index.heldDeletes() == 0)
        }
    }
}
