import CLinux
import Glibc
import QuireCore
import Testing

@testable import QuireIndex

@Suite("What cannot be looked at in the store")
struct UnreadableStoreTests {
    /// A drive with `dir/a`, `dir/b` and `c`, all acknowledged, `c` and `dir/a` as placeholders; what is done then is not
    /// told.
    private func withDocuments(
        unreadPause: Duration = .seconds(60), _ body: (TestDrive) async throws -> Void
    ) async throws {
        let drive = try TestDrive(unreadPause: unreadPause)
        defer { drive.remove() }
        try drive.makeDirectory("dir")
        for path in ["dir/a", "dir/b", "c"] as [RelativePath] { try drive.create(path, "content of \(path)") }
        try await drive.acknowledge("dir", "dir/a", "dir/b", "c")
        for path in ["dir/a", "c"] as [RelativePath] { try drive.evict(path) }
        try await drive.index.settle()
        drive.isWatched = false
        try await body(drive)
    }

    @Test("an entry whose disk fails is not deleted; what lies beside it is compared", arguments: [EIO, EACCES, 117])
    func entry(error: Int32) async throws {
        try await withDocuments { drive in
            let id = try await drive.item("dir/a").id
            try drive.write("dir/b", "another content")
            drive.faults.hide("a", error: error)
            let report = try #require(await drive.rescan())
            #expect(report.removed == 0)
            #expect(try await drive.pendingText() == ["dir/b: content metadata"])
            #expect(try await drive.item("dir/a").id == id)
            #expect(report.unread.map(\.path) == ["dir/a"])
            #expect(report.unread.map(\.errno) == [error])
            #expect(try await !drive.index.isRescanned("dir"))
            #expect(try await drive.index.isRescanned(.root))
        }
    }

    @Test("a directory that may be listed and not searched keeps all that is in it")
    func directory() async throws {
        try await withDocuments { drive in
            try drive.chmod("dir", 0o644)
            drive.faults.hide("a", "b", error: EACCES)
            _ = await drive.rescan()
            #expect(try await drive.pendingText() == ["dir: metadata"])
            #expect(try await drive.find("dir/a") != nil)
            #expect(try await !drive.index.isRescanned("dir"))
        }
    }

    @Test("the same with what the system says", .enabled(if: geteuid() != 0, "root may always"))
    func systemsDirectory() async throws {
        try await withDocuments { drive in
            try drive.chmod("dir", 0o644)
            defer { chmod(drive.store + "/dir", 0o755) }
            _ = await drive.rescan()
            #expect(try await drive.pendingText() == ["dir: metadata"])
            #expect(try await drive.find("dir/a") != nil)
        }
    }

    @Test("a directory that cannot be opened is not compared, nor is what lies below it; all else is")
    func closedDirectory() async throws {
        try await withDocuments { drive in
            drive.isWatched = true
            for path in ["dir/sub", "other"] as [RelativePath] { try drive.makeDirectory(path) }
            try await drive.acknowledge("dir/sub", "other")
            drive.isWatched = false
            try drive.create("other/new", "text")
            drive.faults.lock("dir", error: EIO)
            let report = try #require(await drive.rescan())
            #expect(report.unread.map(\.path) == ["dir"])
            #expect(try await drive.pendingText() == ["other/new: created"])
            for path in ["dir", "dir/sub"] as [RelativePath] { #expect(try await !drive.index.isRescanned(path)) }
            #expect(try await drive.index.isRescanned("other"))
        }
    }

    @Test("once its attributes were changed it is compared, with what was done in it meanwhile")
    func comparedByEvent() async throws {
        try await withDocuments { drive in
            drive.faults.hide("a", "b", error: EACCES)
            _ = await drive.rescan()
            try drive.write("dir/b", "another content")
            drive.faults.end()
            drive.isWatched = true
            try drive.chmod("dir", 0o755)
            try await drive.index.settle()
            let report = try #require(await drive.index.rescanFinished())
            #expect(report.unread.isEmpty)
            #expect(try await drive.pendingText() == ["dir/b: content metadata"])
            #expect(try await drive.index.isRescanned("dir"))
            #expect(drive.index.unreadPlaces.isEmpty)
        }
    }

    @Test("it is tried again after a while, without anybody's doing")
    func comparedInTime() async throws {
        try await withDocuments(unreadPause: .milliseconds(1)) { drive in
            drive.faults.lock("dir", error: EIO)
            _ = await drive.rescan()
            #expect(drive.index.unreadPlaces.map(\.path) == ["dir"])
            try drive.write("dir/b", "another content")
            var changes = drive.index.changes().makeAsyncIterator()
            drive.faults.end()
            while !drive.index.unreadPlaces.isEmpty { await changes.next() }
            _ = await drive.index.rescanFinished()
            #expect(try await drive.pendingText() == ["dir/b: content metadata"])
        }
    }

    @Test("a placeholder that nobody may write to gets its mark again, and keeps its mode")
    func readOnlyMark() async throws {
        try await withDocuments { drive in
            drive.isWatched = true
            try drive.chmod("c", 0o444)
            try await drive.index.settle()
            drive.isWatched = false
            let before = try await drive.pendingText()
            #expect(removexattr(drive.store + "/c", StoreAttribute.placeholder) == 0)
            let report = try #require(await drive.rescan())
            #expect(report.unread.isEmpty)
            #expect(try await drive.item("c").local.isDataless)
            #expect(getxattr(drive.store + "/c", StoreAttribute.placeholder, nil, 0) > 0)
            #expect(try drive.present("c").mode == 0o444)
            #expect(try await drive.pendingText() == before)
        }
    }

    @Test("a mark that cannot be renewed is tried again in its directory alone; once it is, all is compared")
    func refusedMark() async throws {
        try await withDocuments(unreadPause: .milliseconds(1)) { drive in
            drive.isWatched = true
            try drive.makeDirectory("other")
            try await drive.acknowledge("other")
            drive.isWatched = false
            #expect(removexattr(drive.store + "/dir/a", StoreAttribute.placeholder) == 0)
            drive.faults.refuseMarks(error: ENOSPC)
            let report = try #require(await drive.rescan())
            #expect(report.unread.map(\.path) == ["dir/a"])
            #expect(report.unread.map(\.failure) == [.renewing])
            let openings = drive.faults.openings(of: "other")
            var refusals = drive.faults.refusals.makeAsyncIterator()
            for _ in 0..<4 { await refusals.next() }
            #expect(drive.faults.openings(of: "other") == openings)
            #expect(try await !drive.index.isRescanned("dir"))
            var changes = drive.index.changes().makeAsyncIterator()
            drive.faults.end()
            while !drive.index.unreadPlaces.isEmpty { await changes.next() }
            _ = await drive.index.rescanFinished()
            #expect(try await drive.item("dir/a").local.isDataless)
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.index.isRescanned("dir"))
        }
    }

    @Test("what has to wait for something else names that")
    func message() async throws {
        try await withDocuments { drive in
            try drive.replace("c", "another document")
            drive.faults.lock("dir", error: EACCES)
            let report = try #require(await drive.rescan())
            let place = try #require(report.unread.first { $0.path == "c" })
            #expect(place.message.hasPrefix("may have to do with dir, which cannot be looked at (Permission denied):"))
        }
    }

    @Test(
        "a placeholder that was moved out of it, or into it, is the same item once it can be looked at",
        arguments: [true, false])
    func moved(isOut: Bool) async throws {
        try await withDocuments { drive in
            let (from, to): (RelativePath, RelativePath) = isOut ? ("dir/a", "z") : ("c", "dir/z")
            let before = try await drive.item(from)
            #expect(before.local.isDataless)
            try drive.rename(from, to)
            drive.faults.lock("dir", error: EACCES)
            _ = await drive.rescan()
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item(from).id == before.id)
            drive.faults.end()
            _ = await drive.rescan()
            #expect(try await drive.item(to).id == before.id)
            #expect(try await drive.pendingText() == ["\(to): moved"])
        }
    }

    @Test("where the place of a directory with placeholders was taken, and it may lie there, deletions are held")
    func placeTaken() async throws {
        try await withDocuments { drive in
            drive.isWatched = true
            try drive.makeDirectory("other")
            try await drive.acknowledge("other")
            drive.isWatched = false
            try drive.rename("dir", "other/dir")
            try drive.create("dir", "a file")
            drive.faults.lock("other", error: EACCES)
            let report = try #require(await drive.rescan())
            #expect(report.holdsDeletes)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
        }
    }

    @Test("an event that names its inode elsewhere does not delete it")
    func event() async throws {
        try await withDocuments { drive in
            let id = try await drive.item("dir/a").id
            drive.faults.lock("dir", error: EIO)
            try drive.rename("dir/a", "z")
            drive.index.record(
                .created(parent: try drive.present(.root).inode, name: "z", try drive.present("z")))
            #expect(try await drive.item("dir/a").id == id)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
        }
    }
}
