import QuireCore
import QuireIndex
import Testing

@Suite("What counts as acknowledged")
struct AcknowledgementTests {
    private func acknowledgement(
        _ drive: TestDrive, _ path: RelativePath, of status: FileStatus, writersOpen: Bool = false
    ) async throws -> StoreEvent {
        .acknowledged(
            .init(
                item: try await drive.item(path).id, base: try drive.base(path), fingerprint: status.fingerprint,
                writersOpen: writersOpen))
    }

    @Test("an item whose writer is open is not clean until the writer is gone")
    func openWriter() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            try drive.write("doc", "one", writersOpen: true)
            drive.index.record(
                try await acknowledgement(drive, "doc", of: try drive.present("doc"), writersOpen: true))
            #expect(try await drive.item("doc").difference == .content)
            #expect(try await drive.pending().first?.writersOpen == true)
            try drive.closed("doc")
            drive.index.record(try await acknowledgement(drive, "doc", of: try drive.present("doc")))
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("an item renamed during its upload has moved from where the provider has it now")
    func renamedDuringUpload() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            let event = try await acknowledgement(drive, "doc", of: try drive.present("doc"))
            try drive.rename("doc", "other")
            drive.index.record(event)
            let item = try await drive.item("other")
            #expect(item.base?.path == "doc")
            #expect(item.difference.contains(.moved))
        }
    }

    @Test("a document saved by rename during its upload is dirty under its id")
    func savedDuringUpload() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            try drive.write("doc", "two two")
            let event = try await acknowledgement(drive, "doc", of: try drive.present("doc"))
            try drive.create("tmp", "three three")
            try drive.rename("tmp", "doc")
            drive.index.record(event)
            #expect(try await drive.item("doc").difference.contains(.content))
            #expect(try await drive.pending().count == 1)
        }
    }

    @Test("nothing is carried when the size is another")
    func noCarry() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            drive.isWatched = false
            try drive.write("doc", "longer")
            drive.isWatched = true
            try drive.chmod("doc", 0o600)
            #expect(try await drive.item("doc").difference.contains(.content))
        }
    }

    @Test("a write of which attributes tell first is content to be uploaded")
    func writeToldByAttributes() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            drive.isWatched = false
            try drive.write("doc", "two")
            try drive.setTimeQuietly("doc", seconds: 2_000_000_000)
            drive.isWatched = true
            try drive.chmod("doc", 0o600)
            #expect(try await drive.pendingText() == ["doc: content metadata"])
            drive.clock.advance(seconds: 1)
            try drive.closed("doc")
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("content that was dirty stays dirty after a change of attributes")
    func dirtyStaysDirty() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            try drive.write("doc", "two two")
            try drive.chmod("doc", 0o600)
            try drive.rename("doc", "other")
            #expect(try await drive.pendingText() == ["other: content metadata moved"])
        }
    }

    @Test("a write in the tick of the acknowledged state proves nothing: the item is dirty")
    func racyWrite() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let status = try drive.present("doc")
            drive.clock.set(status.ctime)
            drive.index.record(.contentChanged(status, writersOpen: false))
            #expect(try await drive.pendingText() == ["doc: content"])
        }
    }

}

@Suite("Changes of the sync engine")
struct CommitTests {
    private func parent(_ drive: TestDrive) throws -> UInt64 { try drive.present(.root).inode }

    /// As a remote file arrives: not by way of the events of programs.
    private func install(
        _ drive: TestDrive, _ path: RelativePath, _ content: String, version: String, dataless: Bool = false,
        hasBase: Bool = true
    ) throws {
        let isNew = drive.status(path) == nil
        drive.isWatched = false
        if isNew { try drive.create(path, content) } else { try drive.replace(path, content) }
        drive.isWatched = true
        let base = hasBase ? try drive.base(path, version: version) : nil
        let change = StoreEvent.Commit.Change.installed(
            parent: try parent(drive), name: try #require(path.name), try drive.present(path), dataless: dataless)
        drive.index.record(.committed(.init(change, base: base)))
    }

    @Test("an installed placeholder is dataless and clean; its content comes without a change of identity")
    func placeholder() async throws {
        try await withDrive { drive in
            try install(drive, "doc", "0000", version: "1", dataless: true)
            let placeholder = try await drive.item("doc")
            #expect(placeholder.state == .dataless)
            #expect(try await drive.pendingText() == [])
            try install(drive, "doc", "real", version: "1")
            let full = try await drive.item("doc")
            #expect(full.id == placeholder.id)
            #expect(full.state == .current)
        }
    }

    @Test("a change of attributes leaves a placeholder one; a write makes it a file")
    func writeToPlaceholder() async throws {
        try await withDrive { drive in
            try install(drive, "doc", "0000", version: "1", dataless: true)
            try drive.chmod("doc", 0o600)
            #expect(try await drive.item("doc").local.isDataless)
            #expect(try await drive.pendingText() == ["doc: metadata"])
            try drive.write("doc", "mine now")
            #expect(try await !drive.item("doc").local.isDataless)
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("content installed without a base is an edit of the base that is there")
    func installWithoutBase() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            try install(drive, "doc", "restored", version: "1", hasBase: false)
            let item = try await drive.item("doc")
            #expect(item.base?.version.rawValue == "1")
            #expect(item.difference.contains(.content))
        }
    }

    @Test("a conflict's copy moved aside leaves id and base to the version that takes the name")
    func conflict() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc").id
            try drive.write("doc", "mine mine")
            let copy: RelativePath = "doc (conflicted copy 2026-01-02 from here)"
            drive.isWatched = false
            try drive.rename("doc", copy)
            drive.isWatched = true
            let root = try parent(drive)
            drive.index.record(
                .committed(
                    .init(
                        .moved(
                            fromParent: root, fromName: "doc", toParent: root, toName: try #require(copy.name),
                            try drive.present(copy)), base: nil)))
            try install(drive, "doc", "theirs", version: "2")
            #expect(try await drive.item("doc").id == before)
            #expect(try await drive.item("doc").base?.version.rawValue == "2")
            #expect(try await drive.item("doc").state == .conflict)
            #expect(try await drive.item(copy).state == .conflict)
            #expect(try await drive.pendingText() == ["\(copy): created"])
            #expect(try await drive.index.counts().conflicts == 1)
        }
    }

    @Test("a move that follows the provider's takes the base along, and frees no identity")
    func remoteMove() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try await drive.acknowledge("a")
            let before = try await drive.item("a").id
            drive.isWatched = false
            try drive.rename("a", "b")
            drive.isWatched = true
            let root = try parent(drive)
            drive.index.record(
                .committed(
                    .init(
                        .moved(fromParent: root, fromName: "a", toParent: root, toName: "b", try drive.present("b")),
                        base: try drive.base("b", version: "2"))))
            try install(drive, "a", "another", version: "3")
            #expect(try await drive.item("b").id == before)
            #expect(try await drive.item("a").id != before)
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("a removal that follows the provider's is pending until the base is removed, too")
    func remoteRemoval() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try await drive.acknowledge("a")
            let status = try drive.present("a")
            drive.isWatched = false
            try drive.remove("a")
            drive.isWatched = true
            drive.index.record(
                .committed(.init(.removed(parent: try parent(drive), name: "a", inode: status.inode), base: nil)))
            #expect(try await drive.find("a") == nil)
            #expect(try await drive.pendingText() == ["a: deleted"])
            drive.index.record(.baseRemoved(container: .default, path: "a"))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.index.baseTree(container: .default).isEmpty)
        }
    }

    @Test("attributes set to the provider's leave the item clean")
    func remoteAttributes() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try await drive.acknowledge("a")
            drive.isWatched = false
            try drive.chmod("a", 0o600)
            drive.isWatched = true
            drive.index.record(
                .committed(.init(.attributes(try drive.present("a")), base: try drive.base("a", version: "2"))))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("a").base?.version.rawValue == "2")
        }
    }
}
