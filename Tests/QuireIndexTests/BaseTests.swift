import QuireCore
import Synchronization
import Testing

@testable import QuireIndex

@Suite("Acknowledgements and the base tree")
struct BaseTests {
    private func acknowledge(
        _ drive: TestDrive, _ path: RelativePath, fingerprint: Fingerprint, version: String = "1",
        writersOpen: Bool = false, known: Fingerprint? = nil
    ) async throws {
        let item = try await drive.item(path)
        drive.index.record(
            .acknowledged(
                .init(
                    item: item.id, base: try drive.base(path, version: version), fingerprint: fingerprint,
                    writersOpen: writersOpen, known: known)))
    }

    @Test("an acknowledgement of an earlier state leaves a later edit dirty")
    func staleAcknowledgement() async throws {
        try await withDrive { drive in
            let uploaded = try drive.create("doc", "one").fingerprint
            try drive.write("doc", "two two")
            try await acknowledge(drive, "doc", fingerprint: uploaded)
            #expect(try await drive.item("doc").difference.contains(.content))
            #expect(try await drive.item("doc").base?.version == ProviderVersion("1"))
        }
    }

    @Test("an acknowledgement of an earlier state leaves a later edit dirty, also after the clock was set back")
    func staleAcknowledgementOfTheFuture() async throws {
        try await withDrive { drive in
            var earlier = try drive.create("doc", "one")
            earlier.ctime = FileTime(nanoseconds: earlier.ctime.nanoseconds + 3_600_000_000_000)
            drive.index.record(.contentChanged(earlier, writersOpen: false))
            #expect(try await drive.item("doc").local.ctime == earlier.ctime)
            try drive.write("doc", "two two")
            try await acknowledge(drive, "doc", fingerprint: earlier.fingerprint)
            #expect(try await drive.item("doc").difference.contains(.content))
            #expect(try await drive.item("doc").local.fingerprint == drive.present("doc").fingerprint)
        }
    }

    @Test("what was read after the last event is what the item is, also after the clock was set back")
    func laterState() async throws {
        try await withDrive { drive in
            var earlier = try drive.create("doc", "one")
            earlier.ctime = FileTime(nanoseconds: earlier.ctime.nanoseconds + 3_600_000_000_000)
            drive.index.record(.contentChanged(earlier, writersOpen: false))
            drive.isWatched = false
            try drive.write("doc", "two two")
            drive.isWatched = true
            try await acknowledge(
                drive, "doc", fingerprint: try drive.present("doc").fingerprint, known: earlier.fingerprint)
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("what is acknowledged while a writer has it open stays dirty until it is closed and acknowledged again")
    func openWriter() async throws {
        try await withDrive { drive in
            let status = try drive.create("doc", "one")
            try await acknowledge(drive, "doc", fingerprint: status.fingerprint, writersOpen: true)
            #expect(try await drive.item("doc").difference == .content)
            try drive.closed("doc")
            #expect(try await drive.item("doc").difference == .content)
            try await drive.acknowledge("doc", version: "2")
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("an acknowledgement of what was deleted meanwhile is a deletion to be uploaded")
    func deletedMeanwhile() async throws {
        try await withDrive { drive in
            let status = try drive.create("doc", "one")
            let (item, base) = (try await drive.item("doc"), try drive.base("doc"))
            try drive.remove("doc")
            drive.index.record(
                .acknowledged(.init(item: item.id, base: base, fingerprint: status.fingerprint, writersOpen: false)))
            #expect(try await drive.pendingText() == ["doc: deleted"])
            drive.index.record(.baseRemoved(container: .default, path: "doc"))
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("chmod, utimens, rename and a new link carry the acknowledged content")
    func carry() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            try drive.chmod("doc", 0o600)
            #expect(try await drive.pendingText() == ["doc: metadata"])
            try drive.setTime("doc", seconds: 1_000_000)
            #expect(try await drive.pendingText() == ["doc: metadata"])
            try drive.rename("doc", "other")
            #expect(try await drive.pendingText() == ["other: metadata moved"])
            try drive.link("other", "link")
            #expect(try await drive.pendingText() == ["link: created", "other: metadata moved"])
        }
    }

    @Test("attributes that change while a writer is open carry nothing")
    func noCarryWithWriter() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            drive.index.record(.attributesChanged(try drive.present("doc"), writersOpen: true))
            #expect(try await drive.item("doc").difference.contains(.content))
        }
    }

    @Test("what lies in a directory that the provider learns of with it has not moved")
    func unknownParent() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            try drive.create("dir/doc", "one")
            try await drive.acknowledge("dir/doc")
            // The provider has the directory, too, though nothing is known of it yet.
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("dir").base?.version == ProviderVersion(""))
            try await drive.acknowledge("dir")
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("a file where the provider had a directory leaves nothing of what was in it")
    func fileForDirectory() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("a")
            try drive.makeDirectory("a/b")
            try drive.create("a/b/doc", "one")
            try await drive.acknowledge("a", "a/b", "a/b/doc")
            try drive.remove("a/b/doc")
            try drive.remove("a/b")
            try drive.create("a/b", "a file")
            #expect(try await drive.pendingText() == ["a/b: created", "a/b/doc: deleted", "a/b: deleted"])
            try await drive.acknowledge("a/b", version: "2")
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("a base that moved with its directory is not made a second time under its own move")
    func nestedBaseMove() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("a")
            try drive.create("a/x", "one")
            try await drive.acknowledge("a", "a/x")
            try drive.rename("a", "b")
            try drive.rename("b/x", "b/y")
            drive.index.record(.baseMoved(container: .default, from: "a", try drive.base("b")))
            drive.index.record(.baseMoved(container: .default, from: "a/x", try drive.base("b/y")))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("b/y").base?.path == "b/y")
        }
    }

    @Test(
        "a document whose content comes or goes keeps its base where the provider has it by now",
        arguments: [true, false])
    func baseOfOwnContent(isDataless: Bool) async throws {
        try await withDrive { drive in
            try drive.makeDirectory("d")
            try drive.create("d/a", "one")
            try await drive.acknowledge("d", "d/a")
            let asked = try drive.base("d/a", version: "2")
            try drive.rename("d", "e")
            drive.index.record(.baseMoved(container: .default, from: "d", try drive.base("e")))
            try drive.replace("e/a", "one")
            let installed = StoreEvent.Commit.Change.installed(
                parent: try drive.present("e").inode, name: "a", try drive.present("e/a"), dataless: isDataless)
            drive.index.record(.committed(.init(installed, base: asked, basePlace: .own)))
            let base = try await drive.item("e/a").base
            #expect(base?.path == "e/a" && base?.version == ProviderVersion("2"))
            #expect(try await drive.pending().filter { $0.isMoved || $0.isDeleted }.isEmpty)
        }
    }

    @Test(
        "a base that goes into a directory that has its name now, or into one that was below it, is found by its path")
    func baseIntoItself() async throws {
        for target in ["a/b", "a/c/b", "a/c/d/b"] as [RelativePath] {
            try await withDrive { drive in
                for path in ["a", "a/c", "a/c/d"] as [RelativePath] { try drive.makeDirectory(path) }
                try await drive.acknowledge("a", "a/c", "a/c/d")
                drive.index.record(.baseMoved(container: .default, from: "a", try drive.base("a", at: target)))
                #expect(try await drive.item("a").base?.path.name == "b")
                #expect(try await drive.item("a/c").base?.path.name != nil)
                #expect(try await drive.index.baseTree(container: .default).count { $0.item != nil } == 3)
            }
        }
    }

    @Test("several items are found by their paths in one read; where none is, none is told")
    func severalPaths() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("d")
            try drive.create("d/a", "one")
            try drive.create("b", "two")
            try await drive.index.settle()
            let found = try await drive.index.items(at: ["d/a", "d/none", "none/a", "b", "d", "b/a"])
            #expect(found.map(\.path) == ["d/a", "b", "d"])
            #expect(try await drive.index.items(at: []).isEmpty)
        }
    }

    @Test("an upload whose answer is missing goes along with the directory that it went into")
    func movedUpload() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("d")
            try drive.makeDirectory("e")
            try drive.create("d/new", "text")
            try await drive.acknowledge("d", "e")
            let item = try await drive.item("d/new")
            drive.index.record(
                .uploading(
                    UploadIntent(
                        item: item.id, container: .default, path: "d/new", kind: .file, size: ByteCount(4),
                        checksum: try #require(ContentChecksum(bytes: Array(repeating: 1, count: 32))),
                        fingerprint: item.local.fingerprint)))
            try await drive.index.settle()
            drive.index.record(.baseMoved(container: .default, from: "d", try drive.base("d", at: "e/f")))
            try await drive.index.settle()
            #expect(try await drive.index.unansweredUploads(.default).map(\.intent.path) == ["e/f/new"])
        }
    }

    @Test("a move of a base that is not known makes no deletion")
    func unknownBaseMove() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            drive.index.record(.baseMoved(container: .default, from: "other", try drive.base("doc", at: "third")))
            #expect(try await drive.pendingText() == ["doc: created"])
        }
    }

    @Test(
        "what the sync engine installs is clean, dataless where it says so, and gone once the provider has nothing of it"
    )
    func commits() async throws {
        try await withDrive { drive in
            let root = try drive.present(.root).inode
            drive.isWatched = false
            try drive.create("doc", "one")
            drive.index.record(
                .committed(
                    .init(
                        .installed(parent: root, name: "doc", try drive.present("doc"), dataless: true),
                        base: try drive.base("doc"))))
            #expect(try await drive.item("doc").state == .dataless)
            #expect(try await drive.pendingText() == [])
            try drive.rename("doc", "moved")
            drive.index.record(
                .committed(
                    .init(
                        .moved(
                            fromParent: root, fromName: "doc", toParent: root, toName: "moved",
                            try drive.present("moved")),
                        base: try drive.base("moved"))))
            #expect(try await drive.item("moved").base?.path == "moved")
            #expect(try await drive.pendingText() == [])
            let inode = try drive.present("moved").inode
            try drive.remove("moved")
            drive.index.record(.committed(.init(.removed(parent: root, name: "moved", inode: inode), base: nil)))
            #expect(try await drive.find("moved") == nil)
            #expect(try await drive.pendingText() == ["moved: deleted"])
            drive.index.record(.baseRemoved(container: .default, path: "moved"))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.index.baseTree(container: .default).isEmpty)
        }
    }

    @Test("a new local change clears a parked error; so does nothing else but unpark")
    func parked() async throws {
        try await withDrive { drive in
            try drive.create("doc", "x")
            let id = try await drive.item("doc").id
            try await drive.index.park(.item(id), message: "refused", code: "denied")
            #expect(try await drive.item("doc").state == .error)
            #expect(try await drive.index.parkedErrors().map(\.path) == ["doc"])
            try await drive.acknowledge("doc")
            #expect(try await drive.item("doc").parked?.message == "refused")
            try drive.write("doc", "two")
            #expect(try await drive.item("doc").parked == nil)
        }
    }
}
