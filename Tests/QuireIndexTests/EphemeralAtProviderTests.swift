import QuireCore
import Testing

@testable import QuireIndex

/// Names of temporaries that the provider has: of another program's file, or of a directory with such.
@Suite struct EphemeralAtProviderTests {
    /// Records that a pull has made what is at a path, or has brought its content.
    private func install(_ path: RelativePath, _ drive: TestDrive, dataless: Bool = false) throws {
        let commit = StoreEvent.Commit(
            .installed(
                parent: try drive.present(path.parent ?? .root).inode, name: try #require(path.name),
                try drive.present(path), dataless: dataless), base: try drive.base(path))
        drive.index.record(.committed(commit))
    }

    /// Has the provider make something here.
    private func pull(_ path: RelativePath, _ text: String?, _ drive: TestDrive) throws {
        drive.isWatched = false
        if let text { try drive.create(path, text) } else { try drive.makeDirectory(path) }
        drive.isWatched = true
        try install(path, drive)
    }

    @Test("What the provider has under a temporary's name is not deleted there for coming here; an edit of it is sent")
    func document() async throws {
        try await withDrive { drive in
            drive.isWatched = false
            try drive.create("film.part", "text")
            try drive.makePlaceholder("film.part", size: 4)
            try install("film.part", drive, dataless: true)
            #expect(try await drive.pendingText() == [])
            try drive.remove("film.part")
            try drive.create("film.part", "text")
            try install("film.part", drive)
            drive.isWatched = true
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("film.part").state == .current)
            try drive.write("film.part", "other text")
            #expect(try await drive.pendingText() == ["film.part: content metadata"])
            try await drive.acknowledge("film.part", version: "2")
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("Renamed or removed here it is so at the provider; under another temporary's name it stays here only")
    func renamed() async throws {
        try await withDrive { drive in
            try pull("film.part", "text", drive)
            try drive.rename("film.part", "film.mkv")
            #expect(try await drive.pendingText() == ["film.mkv: moved"])
            try drive.rename("film.mkv", "film.part")
            #expect(try await drive.pendingText() == [])
            try drive.rename("film.part", "film~")
            #expect(try await drive.pendingText() == ["film.part: deleted"])
            #expect(try await drive.item("film~").state == .localOnly)
            try drive.rename("film~", "film.part")
            #expect(try await drive.pendingText() == [])
            try drive.remove("film.part")
            #expect(try await drive.pendingText() == ["film.part: deleted"])
            try drive.create("film.part", "made anew")
            #expect(try await drive.pendingText() == ["film.part: content metadata"])
        }
    }

    @Test("A directory under such a name is like any other while it is the provider's; put away, all in it goes there")
    func directory() async throws {
        try await withDrive { drive in
            try pull(".Trash-1000", nil, drive)
            try pull(".Trash-1000/doc", "text", drive)
            #expect(try await drive.pendingText() == [])
            try drive.create(".Trash-1000/new", "text")
            #expect(try await drive.pendingText() == [".Trash-1000/new: created"])
            try drive.rename(".Trash-1000", "old~")
            #expect(try await drive.pendingText().sorted() == [".Trash-1000/doc: deleted", ".Trash-1000: deleted"])
            try drive.rename("old~", ".Trash-1000")
            #expect(try await drive.pendingText() == [".Trash-1000/new: created"])
            try pull("dir", nil, drive)
            try pull("dir/film.part", "text", drive)
            try drive.remove(".Trash-1000/new")
            try drive.rename("dir", "dir~")
            #expect(try await drive.pendingText().sorted() == ["dir/film.part: deleted", "dir: deleted"])
        }
    }

    @Test("What the provider has no longer is of this device only again, with all that is in it")
    func gone() async throws {
        try await withDrive { drive in
            try pull("film.part", "text", drive)
            try pull(".Trash-1000", nil, drive)
            try pull(".Trash-1000/doc", "text", drive)
            #expect(try await drive.item(".Trash-1000/doc").state == .current)
            for path in ["film.part", ".Trash-1000"] as [RelativePath] {
                drive.index.record(.baseRemoved(container: .default, path: path))
            }
            #expect(try await drive.pendingText() == [])
            for path in ["film.part", ".Trash-1000", ".Trash-1000/doc"] as [RelativePath] {
                #expect(try await drive.item(path).state == .localOnly, "\(path)")
            }
        }
    }

    @Test("What a former release kept to this device for its name is placed anew at the next start")
    func formerRelease() async throws {
        try await withDrive { drive in
            try pull("film.part", "text", drive)
            try await drive.index.settle()
            try await drive.index.write("a test") { db in
                try db.run("UPDATE items SET local_only = 1 WHERE role = 0")
                try db.setMeta(
                    MetaKey.layout, (["--"] + EphemeralNames.standardPatterns).joined(separator: "\n"))
            }
            drive.index.close()
            let again = try TestDrive(at: drive.directory)
            defer { again.index.close() }
            #expect(try await !again.item("film.part").isLocalOnly)
        }
    }

    @Test("A placeholder whose base was lost is the provider's again once it is told so")
    func found() async throws {
        try await withDrive { drive in
            drive.isWatched = false
            try drive.create("film.part", "text")
            try drive.evict("film.part")
            drive.isWatched = true
            _ = await drive.rescan()
            try await drive.acknowledge("film.part")
            let item = try await drive.item("film.part")
            #expect(item.base?.path == "film.part" && !item.isLocalOnly)
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("In a directory that was put away and comes back, a document that was saved with a backup has its base again")
    func savedWhilePutAway() async throws {
        try await withDrive { drive in
            try pull("dir", nil, drive)
            try pull("dir/a", "text", drive)
            try drive.rename("dir", "dir~")
            try drive.rename("dir~/a", "dir~/a~")
            try drive.create("dir~/a", "saved")
            try await drive.index.settle()
            try drive.rename("dir~", "dir")
            #expect(try await drive.item("dir/a").base?.path == "dir/a")
            #expect(try await drive.item("dir/a~").state == .localOnly)
            #expect(try await drive.pendingText() == ["dir/a: content metadata"])
        }
    }

    @Test(
        "A placeholder that has such a name for a while keeps its content, whatever it is renamed over",
        arguments: [true, false])
    func placeholderOver(isReplacing: Bool) async throws {
        try await withDrive { drive in
            drive.isWatched = false
            try drive.create("film.part", "film")
            try drive.makePlaceholder("film.part", size: 4)
            try install("film.part", drive, dataless: true)
            drive.isWatched = true
            try pull("doc", "text", drive)
            let film = try await drive.item("film.part")
            try drive.rename("film.part", "film~")
            if !isReplacing { try drive.remove("doc") }
            try drive.rename("film~", "doc")
            let item = try await drive.item("doc")
            #expect(item.id == film.id && item.base?.path == "film.part" && item.local.isDataless)
            #expect(try await drive.pendingText().sorted() == ["doc: deleted", "doc: moved"])
        }
    }

    @Test("An editor's backup over the provider's file of that name is an edit of that")
    func backupOver() async throws {
        try await withDrive { drive in
            try pull("notes", "text", drive)
            try pull("notes~", "older", drive)
            try drive.rename("notes", "notes~")
            try drive.create("notes", "saved")
            #expect(try await drive.pendingText().sorted() == ["notes: content metadata", "notes~: content metadata"])
        }
    }
}
