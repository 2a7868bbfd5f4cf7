import CLinux
import Glibc
import QuireCore
import Testing

@testable import QuireIndex

/// A placeholder that was moved in a home that was also copied, or restored: nothing but its mark leads to its row.
@Suite("Placeholders that were moved where inodes are numbered anew")
struct RenumberedPlaceholderTests {
    /// Makes the directories `one` and `two`.
    private func withDirectories(_ body: (TestDrive) async throws -> Void) async throws {
        try await withDrive { drive in
            for path in ["one", "two"] as [RelativePath] { try drive.makeDirectory(path) }
            try await drive.acknowledge("one", "two")
            try await body(drive)
        }
    }

    /// Makes a document of which only the placeholder is here.
    private func createDataless(
        _ drive: TestDrive, _ path: RelativePath, version: String, content: String = "content"
    ) async throws {
        try drive.create(path, content)
        try await drive.acknowledge(path, version: version)
        try drive.evict(path, version: version)
        try await drive.index.settle()
    }

    private func mark(_ drive: TestDrive, _ path: RelativePath, _ mark: [UInt8]) throws {
        guard setxattr("\(drive.store)/\(path)", StoreAttribute.placeholder, mark, mark.count, 0) == 0 else {
            throw TestError("setxattr")
        }
    }

    /// Has the index name inodes that nobody has; those of entries are as they would be in a copy.
    private func renumber(_ drive: TestDrive, isRootOther: Bool = false) async throws {
        try await drive.index.settle()
        try await drive.index.write("a test") { db in
            try db.run("UPDATE items SET inode = inode + 1000000000 WHERE role <> 2")
            if isRootOther { try db.run("UPDATE items SET inode = 777777 WHERE role = 2") }
        }
    }

    private func expect(_ drive: TestDrive, _ path: RelativePath, is before: IndexItem) async throws {
        let item = try await drive.item(path)
        #expect(item.id == before.id)
        #expect(item.base == before.base)
        #expect(item.local.isDataless)
        #expect(try item.local.inode == drive.present(path).inode)
    }

    @Test("it is followed by its mark, whichever directory is listed first", arguments: [true, false])
    func moved(isRootOther: Bool) async throws {
        let moves: [(from: RelativePath, to: RelativePath)] = [
            ("a", "two/a"), ("two/b", "b"), ("one/c", "two/d"), ("two/e", "one/f"),
        ]
        try await withDirectories { drive in
            var before: [IndexItem] = []
            for (number, move) in moves.enumerated() {
                try await createDataless(drive, move.from, version: "\(number)")
                before.append(try await drive.item(move.from))
            }
            drive.isWatched = false
            for move in moves { try drive.rename(move.from, move.to) }
            try await renumber(drive, isRootOther: isRootOther)
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed) == (0, 4, 0))
            for (move, before) in zip(moves, before) { try await expect(drive, move.to, is: before) }
            let pending = try await drive.pendingText()
            #expect(Set(pending.filter { $0.hasSuffix("moved") }) == Set(moves.map { "\($0.to): moved" }))
            #expect(!pending.contains { $0.hasSuffix("deleted") || $0.hasSuffix("created") })
        }
    }

    @Test("also with its directory, and where another document is in its place")
    func directory() async throws {
        try await withDirectories { drive in
            try await createDataless(drive, "one/doc", version: "1")
            try await createDataless(drive, "b", version: "2")
            let before = (try await drive.item("one/doc"), try await drive.item("b"))
            drive.isWatched = false
            try drive.rename("one", "three")
            try drive.rename("b", "two/b")
            try drive.create("b", "another document")
            try await renumber(drive)
            _ = await drive.rescan()
            try await expect(drive, "three/doc", is: before.0)
            try await expect(drive, "two/b", is: before.1)
            #expect(try await drive.item("b").base == nil)
            #expect(try await drive.pending().filter(\.isDeleted).map(\.base?.path) == ["one"])
        }
    }

    @Test("also over another, and where two have changed places")
    func taken() async throws {
        try await withDirectories { drive in
            for (number, path) in (["a", "b", "c", "d"] as [RelativePath]).enumerated() {
                try await createDataless(drive, path, version: "\(number)")
            }
            let (a, c, d) = (try await drive.item("a"), try await drive.item("c"), try await drive.item("d"))
            drive.isWatched = false
            try drive.rename("a", "b")
            try drive.exchange("c", "d")
            try await renumber(drive)
            let report = try #require(await drive.rescan())
            try await expect(drive, "b", is: a)
            try await expect(drive, "d", is: c)
            try await expect(drive, "c", is: d)
            // What was at `b` before may have been there alone.
            #expect(report.holdsDeletes)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
            #expect(try await drive.index.heldDeletes() == 1)
        }
    }

    @Test("what its mark names is told apart by the checksum, and by the name where there are several")
    func several() async throws {
        let sums = try [UInt8(1), 2].map { try #require(ContentChecksum(bytes: Array(repeating: $0, count: 32))) }
        try await withDirectories { drive in
            let paths: [RelativePath] = ["one/a", "one/b", "one/c", "one/d"]
            for path in paths { try await createDataless(drive, path, version: "1") }
            for (path, sum) in zip(paths, sums) {
                let placeholder = Placeholder(version: ProviderVersion("1"), container: .default, checksum: sum)
                try mark(drive, path, placeholder.encoded)
                let base = try await drive.item(path).base
                try await drive.index.write("a test") { db in
                    try db.run(
                        "UPDATE bases SET checksum = ? WHERE name = ?", .blob(sum.bytes),
                        .blob(try #require(base?.path.name).bytes))
                }
            }
            let before = try await drive.index.items(at: paths).sorted { "\($0.path)" < "\($1.path)" }
            drive.isWatched = false
            let moved: [RelativePath] = ["two/y", "two/x", "two/c", "two/d"]
            for (from, to) in zip(paths, moved) { try drive.rename(from, to) }
            try await renumber(drive)
            _ = await drive.rescan()
            for (path, before) in zip(moved, before) { try await expect(drive, path, is: before) }
            #expect(try await drive.index.heldDeletes() == 0)
        }
    }

    /// Why it cannot be told which document a placeholder is.
    enum Doubt: CaseIterable {
        case severalDocuments, laterVersion, unreadableMark, otherContainer
    }

    @Test("where it cannot be told which it is, no document that it may be is deleted", arguments: Doubt.allCases)
    func held(doubt: Doubt) async throws {
        try await withDirectories { drive in
            try await createDataless(drive, "a", version: "1")
            try await createDataless(drive, "one/b", version: "1")
            drive.isWatched = false
            try drive.rename("a", "x")
            switch doubt {
            case .severalDocuments: try drive.rename("one/b", "y")
            case .laterVersion: try mark(drive, "x", Array("quire-placeholder 1\ncontainer default\nversion 0".utf8))
            case .unreadableMark: try mark(drive, "x", Array("?".utf8))
            case .otherContainer: try mark(drive, "x", Array("quire-placeholder 1\ncontainer other\nversion 1".utf8))
            }
            try await renumber(drive)
            let report = try #require(await drive.rescan())
            // A document of another container is none of those here.
            let isHeld = doubt != .otherContainer
            #expect(report.holdsDeletes == isHeld)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty == isHeld)
        }
    }

    @Test("where what lies in its place may be its new content or another document, it is another document")
    func undecided() async throws {
        try await withDirectories { drive in
            try await createDataless(drive, "a", version: "1")
            drive.isWatched = false
            try drive.rename("a", "two/x")
            try mark(drive, "two/x", Array("?".utf8))
            try drive.create("a", "another document")
            try await renumber(drive)
            _ = await drive.rescan()
            #expect(try await drive.item("a").base == nil)
            #expect(try await drive.index.heldDeletes() == 1)
        }
    }

    @Test("a placeholder that was deleted is deleted, whatever else was copied or is of another size")
    func deleted() async throws {
        try await withDirectories { drive in
            try await createDataless(drive, "a", version: "1")
            try await createDataless(drive, "b", version: "2", content: "longer content")
            try await createDataless(drive, "c", version: "3")
            drive.isWatched = false
            try drive.remove("a")
            try drive.rename("b", "two/b")
            try await renumber(drive)
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed, report.holdsDeletes) == (0, 1, 1, false))
            #expect(try await drive.pending().filter(\.isDeleted).map(\.base?.path) == ["a"])
        }
    }

    private func removeMark(_ drive: TestDrive, _ path: RelativePath) throws {
        guard removexattr("\(drive.store)/\(path)", StoreAttribute.placeholder) == 0 else {
            throw TestError("removexattr")
        }
    }

    @Test("one whose mark was left out of the copy is known by its zeros and its size, and has its mark again")
    func unmarked() async throws {
        try await withDirectories { drive in
            try await createDataless(drive, "a", version: "1")
            try await createDataless(drive, "one/b", version: "2", content: "longer content")
            let before = try await drive.item("a")
            drive.isWatched = false
            try drive.rename("a", "two/x")
            try removeMark(drive, "two/x")
            try drive.setTimeQuietly("two/x", seconds: 1_700_000_000)
            try drive.create("y", "another")
            try await renumber(drive)
            let report = try #require(await drive.rescan())
            #expect((report.added, report.moved, report.removed, report.holdsDeletes) == (1, 1, 0, false))
            try await expect(drive, "two/x", is: before)
            let entry = StoreLister.Entry(name: Array("x".utf8), status: try drive.present("two/x"))
            #expect(StoreLister(root: drive.store).placeholder(entry, in: "two")?.version == ProviderVersion("1"))
            #expect(try await drive.item("y").base == nil)
        }
    }

    @Test("where it cannot be told which file of zeros is which, deletions are held; content is no placeholder")
    func unmarkedUnclear() async throws {
        try await withDirectories { drive in
            try await createDataless(drive, "a", version: "1")
            try await createDataless(drive, "one/b", version: "2")
            drive.isWatched = false
            try drive.rename("a", "x")
            try drive.rename("one/b", "y")
            for path in ["x", "y"] as [RelativePath] { try removeMark(drive, path) }
            try await renumber(drive)
            #expect(await drive.rescan()?.holdsDeletes == true)
            #expect(try await drive.pending().filter(\.isDeleted).isEmpty)
        }
        try await withDirectories { drive in
            try await createDataless(drive, "a", version: "1")
            drive.isWatched = false
            try drive.remove("a")
            try drive.create("x", "another")
            try await renumber(drive)
            #expect(await drive.rescan()?.holdsDeletes == false)
            #expect(try await drive.pending().filter(\.isDeleted).map(\.base?.path) == ["a"])
        }
    }
}
