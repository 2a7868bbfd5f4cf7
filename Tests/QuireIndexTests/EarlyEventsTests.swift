import Glibc
import QuireCore
import Testing

@testable import QuireIndex

/// The mount is in use before the start's rescan has seen all: what events meet then may have been moved while nobody looked.
@Suite("Events that come before a rescan has seen what was moved")
struct EarlyEventsTests {
    /// A drive with three directories and a placeholder `dir/x`, which was moved to `other/x` while nobody looked.
    private func withMoved(_ body: (TestDrive, _ before: IndexItem) async throws -> Void) async throws {
        try await withDrive { drive in
            for path in ["dir", "other", "third"] as [RelativePath] {
                try drive.makeDirectory(path)
                try await drive.acknowledge(path)
            }
            try drive.create("dir/x", "content")
            try await drive.acknowledge("dir/x")
            try drive.evict("dir/x")
            let before = try await drive.item("dir/x")
            drive.isWatched = false
            try drive.rename("dir/x", "other/x")
            drive.isWatched = true
            try await body(drive, before)
        }
    }

    /// Expects that nothing is sent that would replace or delete the content, before and after all is compared, and that the
    /// placeholder at `path` is the item that it was.
    private func expectKept(_ drive: TestDrive, _ before: IndexItem, at path: RelativePath = "other/x") async throws {
        #expect(try await losses(drive) == [])
        _ = await drive.rescan()
        #expect(try await losses(drive) == [])
        let after = try await drive.item(path)
        #expect(after.id == before.id)
        #expect(after.local.isDataless)
        #expect(after.base?.path == "dir/x")
        #expect(after.base?.version == before.base?.version)
    }

    /// What is to be sent in the place of `dir/x`.
    private func losses(_ drive: TestDrive) async throws -> [PendingItem] {
        try await drive.pending().filter { $0.base?.path == "dir/x" && ($0.isDeleted || $0.isContentDirty) }
    }

    @Test("Its former directory is removed: the placeholder is where it was moved to")
    func directoryRemoved() async throws {
        try await withMoved { drive, before in
            try drive.remove("dir")
            try await expectKept(drive, before)
            #expect(try await drive.find("dir") == nil)
            #expect(try await Set(drive.pendingText()) == ["other/x: moved", "dir: deleted"])
        }
    }

    @Test("Where another directory comes in its place, too")
    func directoryReplaced() async throws {
        try await withMoved { drive, before in
            try drive.makeDirectory("new")
            try drive.create("new/doc", "another document")
            try drive.rename("new", "dir")
            try await expectKept(drive, before)
            #expect(try await drive.find("dir/doc") != nil)
            #expect(try await drive.find("dir/x") == nil)
        }
    }

    /// How a document comes to where the placeholder was.
    enum Saving: CaseIterable {
        case created, renamed, moved, asDirectory
    }

    @Test("A document that is saved at its former place is another one", arguments: Saving.allCases)
    func saved(_ saving: Saving) async throws {
        try await withMoved { drive, before in
            switch saving {
            case .created: try drive.create("dir/x", "another document")
            case .renamed:
                try drive.create("dir/new", "another document")
                try drive.rename("dir/new", "dir/x")
            case .moved:
                try drive.create("third/doc", "another document")
                try await drive.acknowledge("third/doc", version: "2")
                try drive.rename("third/doc", "dir/x")
            case .asDirectory:
                try drive.makeDirectory("dir/x")
                try drive.create("dir/x/doc", "another document")
            }
            try await expectKept(drive, before)
            let new = try await drive.item("dir/x")
            #expect(try new.local.inode == drive.present("dir/x").inode)
            #expect(!new.local.isDataless)
            #expect(new.base?.path == (saving == .moved ? "third/doc" : nil))
        }
    }

    @Test("Where the placeholder was removed, that document is its new content", arguments: [Saving.created, .renamed])
    func savedAfterRemoval(_ saving: Saving) async throws {
        try await withMoved { drive, before in
            drive.isWatched = false
            try drive.remove("other/x")
            drive.isWatched = true
            if saving == .created {
                try drive.create("dir/x", "another content")
            } else {
                try drive.create("dir/new", "another content")
                try drive.rename("dir/new", "dir/x")
            }
            try await drive.index.settle()
            _ = await drive.rescan()
            #expect(try await drive.item("dir/x").id == before.id)
            #expect(try await losses(drive).map(\.isDeleted) == [false])
            #expect(try await drive.find("dir/new") == nil)
        }
    }

    @Test("A placeholder that is moved on before it was found is a placeholder")
    func movedOn() async throws {
        try await withMoved { drive, before in
            try drive.rename("other/x", "third/y")
            try await expectKept(drive, before, at: "third/y")
        }
    }

    @Test("What is moved to a directory that nobody has seen is found there, however soon another was")
    func unseenDirectory() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/x", "dir/y"] as [RelativePath] {
                try drive.create(path, "content")
                try await drive.acknowledge(path)
                try drive.evict(path)
            }
            for (name, directory) in [("y", "first"), ("x", "second")] {
                let from = try #require(RelativePath(parsing: "dir/\(name)"))
                let parent = try #require(RelativePath(parsing: directory))
                let to = parent.appending(try #require(FileName(name)))
                let before = try await drive.item(from)
                drive.isWatched = false
                try drive.makeDirectory(parent)
                drive.isWatched = true
                try drive.rename(from, to)
                try await drive.index.settle()
                _ = await drive.index.rescanFinished()
                #expect(try await drive.item(to).id == before.id)
            }
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
        }
    }
}
