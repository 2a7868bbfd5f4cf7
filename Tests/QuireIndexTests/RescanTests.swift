import CLinux
import Glibc
import QuireCore
import Synchronization
import Testing

@testable import QuireIndex

@Suite("Rescan")
struct RescanTests {
    private func path(_ names: String...) -> RelativePath {
        RelativePath(names.map { FileName(unchecked: Array($0.utf8)) })
    }

    /// Does `body` as a person does while the daemon is stopped.
    private func unwatched(_ drive: TestDrive, _ body: () throws -> Void) async throws {
        try await drive.index.settle()
        drive.isWatched = false
        defer { drive.isWatched = true }
        try body()
    }

    @Test("finds what was created, changed, renamed and removed unseen, and keeps the identity of what was renamed")
    func offlineEdits() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            for path in ["dir/kept", "dir/changed", "moved", "gone"] as [RelativePath] { try drive.create(path, "one") }
            try await drive.acknowledge("dir", "dir/kept", "dir/changed", "moved", "gone")
            let (dir, moved) = (try await drive.item("dir").id, try await drive.item("moved").id)
            try await unwatched(drive) {
                try drive.write("dir/changed", "two two")
                try drive.rename("dir", "folder")
                try drive.rename("moved", "folder/other")
                try drive.remove("gone")
                try drive.create("new", "three")
            }
            let report = try #require(await drive.rescan())
            #expect((report.moved, report.removed, report.holdsDeletes) == (2, 1, false))
            #expect(try await drive.item("folder").id == dir)
            #expect(try await drive.item("folder/other").id == moved)
            #expect(
                try await drive.pendingText() == [
                    "folder: moved", "new: created", "folder/changed: content metadata", "folder/other: content moved",
                    "gone: deleted",
                ])
        }
    }

    @Test("takes nothing for missing that an operation has moved and not yet told of", arguments: [true, false])
    func betweenListings(isWhole: Bool) async throws {
        try await withDrive { drive in
            for path in ["a", "a/b"] as [RelativePath] {
                try drive.makeDirectory(path)
                try await drive.acknowledge(path)
            }
            try drive.create("a/b/x", "content")
            try await drive.acknowledge("a/b/x")
            try drive.evict("a/b/x")
            let before = try await drive.item("a/b/x")
            // Between the listings of both directories, by who is slow to record it.
            drive.faults.beforeOpening("b") {
                drive.delayed.withLock { $0 = [] }
                try? drive.rename("a/b/x", "a/x")
            }
            drive.index.setOperations {
                let events = drive.delayed.withLock { events in
                    defer { events = nil }
                    return events ?? []
                }
                for event in events { drive.index.record(event) }
            }
            if isWhole {
                _ = await drive.rescan()
            } else {
                // An event that its row does not fit has its directory compared alone.
                let changes = drive.index.changes()
                drive.index.record(.removed(parent: try drive.present("a/b").inode, name: "x", inode: 0))
                for await _ in changes where try await drive.find("a/b/x") == nil { break }
            }
            #expect(try await drive.item("a/x").id == before.id)
            #expect(try await drive.pendingText() == ["a/x: moved"])
        }
    }

    @Test("changes nothing when nothing changed")
    func unchanged() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            try drive.create("dir/doc", "one")
            try drive.link("dir/doc", "dir/link")
            try await drive.acknowledge("dir", "dir/doc", "dir/link")
            let before = try await drive.item("dir/doc")
            let report = try #require(await drive.rescan())
            #expect((report.added, report.changed, report.moved, report.removed) == (0, 0, 0, 0))
            #expect(try await drive.item("dir/doc") == before)
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("no directory counts as rescanned before the rescan")
    func rescannedDirectories() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            try await drive.index.settle()
            #expect(try await drive.index.isRescanned("dir") == false)
            _ = await drive.rescan()
            #expect(try await drive.index.isRescanned("dir"))
            #expect(try await drive.index.isRescanned(.root))
        }
    }

    @Test("when most of the drive is missing, deletions are held until they are confirmed")
    func guardHolds() async throws {
        try await withDrive { drive in
            for number in 0..<20 {
                try drive.create(path("f\(number)"), "x")
                try await drive.acknowledge(path("f\(number)"))
            }
            try await unwatched(drive) { for number in 0..<12 { try drive.remove(path("f\(number)")) } }
            let report = try #require(await drive.rescan())
            #expect(report.holdsDeletes)
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.index.heldDeletes() == 12)
            try await drive.index.confirmDeletes()
            #expect(try await drive.pending().filter(\.isDeleted).count == 12)
            #expect(try await drive.index.heldDeletes() == 0)
        }
    }

    @Test("a few missing items are deletions like others")
    func fewMissing() async throws {
        try await withDrive { drive in
            for number in 0..<10 {
                try drive.create(path("f\(number)"), "x")
                try await drive.acknowledge(path("f\(number)"))
            }
            try await unwatched(drive) { for number in 0..<10 { try drive.remove(path("f\(number)")) } }
            let report = try #require(await drive.rescan())
            #expect(!report.holdsDeletes)
            #expect(try await drive.pending().filter(\.isDeleted).count == 10)
        }
    }

    @Test("another, empty directory under the same name does not slip past the guard", arguments: [true, false])
    func replacedDirectory(byDirectory: Bool) async throws {
        try await withDrive { drive in
            try drive.makeDirectory("docs")
            for number in 0..<20 {
                try drive.create(path("docs", "f\(number)"), "x")
                try await drive.acknowledge(path("docs", "f\(number)"))
            }
            try await unwatched(drive) {
                guard Glibc.rename(drive.store + "/docs", drive.directory + "/aside") == 0 else {
                    throw TestError("rename")
                }
                if byDirectory { try drive.makeDirectory("docs") } else { try drive.create("docs", "a file") }
            }
            let report = try #require(await drive.rescan())
            #expect(report.holdsDeletes)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
            // It is back: nothing was lost, and nothing is held any more.
            try await unwatched(drive) {
                try drive.remove("docs")
                guard Glibc.rename(drive.directory + "/aside", drive.store + "/docs") == 0 else {
                    throw TestError("rename")
                }
            }
            _ = await drive.rescan()
            #expect(try await drive.index.heldDeletes() == 0)
            #expect(try await drive.item("docs/f3").base != nil)
        }
    }

    @Test("events in directories that were never told of are found, one soon after the other, too")
    func unknownDirectories() async throws {
        try await withDrive { drive in
            _ = await drive.rescan()
            for name in ["one", "two", "three"] {
                try await unwatched(drive) { try drive.makeDirectory(path(name)) }
                try drive.create(path(name, "doc"), "x")
                try await drive.index.settle()
                _ = await drive.index.rescanFinished()
                #expect(try await drive.find(path(name, "doc")) != nil)
            }
        }
    }

    @Test("a placeholder found in the store is dataless, and its zeros are no change of content")
    func placeholder() async throws {
        try await withDrive { drive in
            try await unwatched(drive) {
                try drive.create("doc")
                let file = drive.store + "/doc"
                guard truncate(file, 5_000_000) == 0 else { throw TestError("truncate") }
                let mark = "quire-placeholder 1\ncontainer default\nversion 1"
                guard setxattr(file, StoreAttribute.placeholder, mark, mark.utf8.count, 0) == 0 else {
                    throw TestError("setxattr")
                }
            }
            _ = await drive.rescan()
            #expect(try await drive.item("doc").local.isDataless)
            #expect(try await drive.item("doc").state == .dataless)
            drive.index.record(.committed(.init(.attributes(try drive.present("doc")), base: try drive.base("doc"))))
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("a placeholder's mark on a file that has content, or is empty, goes, and the file is changed")
    func staleMark() async throws {
        try await withDrive { drive in
            for name in ["text", "empty"] as [RelativePath] { try drive.create(name, "content") }
            try await drive.acknowledge("text", "empty")
            try await unwatched(drive) {
                for (name, text) in [("text", "other"), ("empty", "")] as [(RelativePath, String)] {
                    try drive.makePlaceholder(name, size: 0)
                    try drive.write(name, text)
                }
            }
            _ = await drive.rescan()
            for name in ["text", "empty"] as [RelativePath] {
                #expect(getxattr("\(drive.store)/\(name)", StoreAttribute.placeholder, nil, 0) == -1)
                let local = try await drive.item(name).local
                #expect(!local.isDataless)
                #expect(try local.fingerprint == drive.present(name).fingerprint)
            }
            #expect(try await drive.pendingText() == ["empty: content metadata", "text: content metadata"])
        }
    }

    @Test("a placeholder that was moved and written while nobody looked is moved and changed")
    func movedAndWritten() async throws {
        try await withDrive { drive in
            try drive.create("doc", "")
            try await drive.acknowledge("doc")
            try drive.makePlaceholder("doc", size: 7)
            let installed = StoreEvent.Commit(
                .installed(
                    parent: try drive.present(.root).inode, name: try #require(("doc" as RelativePath).name),
                    try drive.present("doc"), dataless: true),
                base: try drive.base("doc"))
            drive.index.record(.committed(installed))
            #expect(try await drive.item("doc").local.isDataless)
            try await unwatched(drive) {
                try drive.rename("doc", "new")
                try drive.write("new", "another")
            }
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (0, 1, 0))
            #expect(try await !drive.item("new").local.isDataless)
            #expect(try await drive.pendingText() == ["new: content metadata moved"])
        }
    }

    @Test("a rescan that is asked for while another is under way is done, too")
    func asksTwice() async throws {
        try await withDrive { drive in
            try await unwatched(drive) { try drive.create("one") }
            drive.index.beginRescan()
            try await unwatched(drive) { try drive.create("two") }
            drive.index.beginRescan()
            _ = await drive.index.rescanFinished()
            #expect(try await drive.find("one") != nil)
            #expect(try await drive.find("two") != nil)
        }
    }
}
