import QuireCore
import QuireIndex
import Testing

@Suite("Identity across saves and renames")
struct IdentityTests {
    @Test("an acknowledged file is clean, and dirty after a write")
    func cleanAndDirty() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            #expect(try await drive.pendingText() == ["doc: created"])
            try await drive.acknowledge("doc")
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("doc").state == .current)
            try drive.write("doc", "longer")
            #expect(try await drive.pendingText() == ["doc: content metadata"])
            #expect(try await drive.item("doc").state == .dirty)
        }
    }

    @Test("save by temporary and rename over keeps id, base, tags and pin")
    func saveByRenameOver() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc")
            try await drive.index.setTags(before.id, ["red", "blue"])
            try await drive.index.setPinned(before.id, true)
            try drive.create("doc.tmp1", "two two")
            try drive.rename("doc.tmp1", "doc")
            let after = try await drive.item("doc")
            #expect(after.id == before.id)
            #expect(after.base == before.base)
            #expect(after.tags == ["red", "blue"])
            #expect(after.isPinned)
            #expect(after.difference == [.content, .metadata])
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("save by renaming away, creating anew and deleting the backup is one content change")
    func saveByRenamingAway() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc")
            try await drive.index.setTags(before.id, ["red"])
            try drive.rename("doc", "doc~")
            #expect(try await drive.pendingText() == ["doc: deleted"])
            try drive.create("doc", "two two")
            let after = try await drive.item("doc")
            #expect(after.id == before.id)
            #expect(after.base == before.base)
            #expect(after.tags == ["red"])
            let backup = try await drive.item("doc~")
            #expect(backup.id != before.id)
            #expect(backup.state == .localOnly)
            #expect(backup.base == nil)
            try drive.remove("doc~")
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("a backup under an ordinary name gives the identity up, too, while the provider has it at the old name")
    func ordinaryBackup() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc")
            try drive.rename("doc", "backup")
            #expect(try await drive.pendingText() == ["backup: moved"])
            try drive.create("doc", "two two")
            #expect(try await drive.item("doc").id == before.id)
            #expect(try await drive.pendingText() == ["backup: created", "doc: content metadata"])
        }
    }

    @Test("after 15 s a freed name gives its identity to nobody; the base is taken over all the same")
    func tunnelEnds() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc")
            try drive.remove("doc")
            drive.clock.advance(seconds: 16)
            try drive.create("doc", "two two")
            let after = try await drive.item("doc")
            #expect(after.id != before.id)
            #expect(after.base == before.base)
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("a name freed by a removal passes its identity on within 15 s")
    func tunnelAfterRemoval() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc")
            try drive.remove("doc")
            drive.clock.advance(seconds: 14)
            try drive.create("new", "two two")
            try drive.rename("new", "doc")
            #expect(try await drive.item("doc").id == before.id)
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("a temporary name that is used again takes nothing from the document it became")
    func reusedTemporary() async throws {
        try await withDrive { drive in
            try drive.create("doc.new", "one")
            try drive.rename("doc.new", "doc")
            let id = try await drive.item("doc").id
            try drive.create("doc.new", "two two")
            #expect(try await drive.item("doc").id == id)
            try drive.rename("doc.new", "doc")
            #expect(try await drive.item("doc").id == id)
            #expect(try await drive.pendingText() == ["doc: created"])
        }
    }

    @Test("truncating and writing anew is the same item")
    func truncateAndRewrite() async throws {
        try await withDrive { drive in
            try drive.create("doc", "one")
            try await drive.acknowledge("doc")
            let before = try await drive.item("doc")
            try drive.write("doc", "", writersOpen: true)
            try drive.write("doc", "two two")
            #expect(try await drive.item("doc").id == before.id)
            #expect(try await drive.pendingText() == ["doc: content metadata"])
        }
    }

    @Test("exchanging a temporary with a document changes the document's content; exchanging documents moves both")
    func exchange() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try drive.create("b", "two two")
            try await drive.acknowledge("a", "b")
            let (a, b) = (try await drive.item("a"), try await drive.item("b"))
            try drive.exchange("a", "b")
            #expect(try await drive.item("a").id == b.id)
            #expect(try await drive.item("b").id == a.id)
            #expect(try await drive.pendingText() == ["a: moved", "b: moved"])
            try drive.exchange("a", "b")
            #expect(try await drive.pendingText() == [])
            try drive.create("tmp", "three three")
            try drive.exchange("tmp", "a")
            #expect(try await drive.item("a").id == a.id)
            #expect(try await drive.pendingText() == ["a: content metadata", "tmp: created"])
        }
    }

    @Test(
        "exchanging a temporary directory with a package changes what is in it: what both have keeps id, base and tags")
    func packages() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("p.bundle")
            try drive.makeDirectory("p.bundle/sub")
            for name in ["same", "gone", "sub/deep", "kind"] {
                _ = try drive.create(RelativePath(stringLiteral: "p.bundle/" + name), "one")
            }
            try await drive.acknowledge(
                "p.bundle", "p.bundle/sub", "p.bundle/same", "p.bundle/gone", "p.bundle/sub/deep", "p.bundle/kind")
            #expect(try await drive.pendingText() == [])
            let before = try await drive.item("p.bundle")
            let deep = try await drive.item("p.bundle/sub/deep")
            try await drive.index.setTags(before.id, ["red"])
            try drive.makeDirectory(".~new~")
            try drive.makeDirectory(".~new~/sub")
            try drive.makeDirectory(".~new~/kind")
            for name in ["same", "new", "sub/deep", "kind/below"] {
                _ = try drive.create(RelativePath(stringLiteral: ".~new~/" + name), "two two")
            }
            try drive.exchange(".~new~", "p.bundle")
            let after = try await drive.item("p.bundle")
            #expect(after.id == before.id && after.base == before.base && after.tags == ["red"])
            #expect(try await drive.item("p.bundle/sub/deep").id == deep.id)
            #expect(try await drive.item("p.bundle/sub/deep").base == deep.base)
            #expect(try await drive.item(".~new~/gone").state == .localOnly)
            let pending = Set(try await drive.pendingText())
            #expect(
                pending == [
                    "p.bundle: content", "p.bundle/gone: deleted", "p.bundle/kind: created",
                    "p.bundle/kind: deleted", "p.bundle/kind/below: created", "p.bundle/new: created",
                    "p.bundle/same: content metadata", "p.bundle/sub: content",
                    "p.bundle/sub/deep: content metadata",
                ])
            for name in ["/same", "/gone", "/sub/deep", "/kind", "/sub", ""] {
                try drive.remove(RelativePath(stringLiteral: ".~new~" + name))
            }
            #expect(try await drive.item("p.bundle").id == before.id)
        }
    }

    @Test("hard links are items of their own, and a write dirties all of them")
    func hardLinks() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try drive.link("a", "b")
            try await drive.acknowledge("a", "b")
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("a").id != drive.item("b").id)
            try drive.write("b", "two two")
            #expect(try await drive.pendingText() == ["a: content metadata", "b: content metadata"])
            #expect(try await drive.item("a").local.linkCount == 2)
        }
    }

    @Test("What sync does to one name of a file dirties no other, and the index knows the others as they are")
    func commitToOneName() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try drive.link("a", "b")
            try await drive.acknowledge("a", "b")
            let parent = try drive.present(.root).inode
            try drive.rename("a", "aside", isTold: false)
            let status = try drive.present("aside")
            drive.index.record(
                .committed(
                    .init(
                        .moved(fromParent: parent, fromName: "a", toParent: parent, toName: "aside", status),
                        base: try drive.base("aside"), otherNames: status)))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("b").local.fingerprint == status.fingerprint)
        }
    }

    @Test("A dataless document that was moved away keeps its base from whatever takes its name")
    func datalessKeepsBase() async throws {
        try await withDrive { drive in
            try drive.create("doc", "")
            try drive.create("other", "")
            try await drive.acknowledge("doc", "other")
            for name in ["doc", "other"] as [RelativePath] {
                try drive.makePlaceholder(name, size: 9)
                let parent = try drive.present(.root).inode
                drive.index.record(
                    .committed(
                        .init(
                            .installed(
                                parent: parent, name: try #require(name.name), try drive.present(name), dataless: true),
                            base: try drive.base(name))))
            }
            #expect(try await drive.pendingText() == [])
            try drive.rename("doc", "old")
            try drive.create("doc", "new")
            #expect(try await drive.pendingText() == ["doc: created", "old: moved"])
            try drive.create("fresh", "new")
            try drive.exchange("fresh", "other")
            #expect(
                try await drive.pendingText() == ["doc: created", "fresh: moved", "old: moved", "other: created"])
            try drive.rename("old", "old~")
            #expect(try await drive.pendingText() == ["doc: created", "fresh: moved", "other: created"])
        }
    }

    @Test(
        "A dataless document under a backup's name keeps its base from whatever takes its name",
        arguments: [true, false])
    func datalessBackupKeepsBase(isWitnessed: Bool) async throws {
        try await withDrive { drive in
            try drive.create("doc", "")
            try await drive.acknowledge("doc")
            try drive.makePlaceholder("doc", size: 9)
            let installed = StoreEvent.Commit(
                .installed(
                    parent: try drive.present(.root).inode, name: "doc", try drive.present("doc"), dataless: true),
                base: try drive.base("doc"))
            drive.index.record(.committed(installed))
            #expect(try await drive.pendingText() == [])
            drive.isWatched = isWitnessed
            try drive.rename("doc", "doc~")
            if !isWitnessed { _ = await drive.rescan() }
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.index.datalessToBring(after: nil, limit: 10).isEmpty)
            try drive.create("doc", "new")
            if !isWitnessed { _ = await drive.rescan() }
            #expect(try await drive.pendingText() == ["doc: created"])
            let backup = try await drive.item("doc~")
            #expect(backup.local.isDataless && backup.base?.path == "doc")
            #expect(try await drive.item("doc").base == nil)
            #expect(try await drive.index.datalessToBring(after: nil, limit: 10).map(\.path) == ["doc~"])
        }
    }

    @Test("renaming a directory is one pending item, and what is below it stays clean")
    func directoryRename() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            try drive.makeDirectory("dir/sub")
            try drive.create("dir/sub/doc", "one")
            try await drive.acknowledge("dir", "dir/sub", "dir/sub/doc")
            let before = try await drive.item("dir/sub/doc")
            try drive.rename("dir", "other")
            #expect(try await drive.pendingText() == ["other: moved"])
            let after = try await drive.item("other/sub/doc")
            #expect(after.id == before.id)
            #expect(after.base?.path == "dir/sub/doc")
            drive.index.record(.baseMoved(container: .default, from: "dir", try drive.base("other")))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("other/sub/doc").base?.path == "other/sub/doc")
        }
    }

    @Test("a directory removed and made anew keeps its base, and waits for the provider to confirm it")
    func remadeDirectory() async throws {
        try await withDrive { drive in
            try drive.makeDirectory("dir")
            try await drive.acknowledge("dir")
            #expect(try await drive.pendingText() == [])
            try drive.remove("dir")
            #expect(try await drive.pendingText() == ["dir: deleted"])
            try drive.makeDirectory("dir")
            #expect(try await drive.pendingText() == ["dir: content"])
            try await drive.acknowledge("dir")
            #expect(try await drive.pendingText() == [])
        }
    }

    @Test("renaming one document over another moves the one and deletes the other")
    func documentOverDocument() async throws {
        try await withDrive { drive in
            try drive.create("a", "one")
            try drive.create("b", "two two")
            try await drive.acknowledge("a", "b")
            let a = try await drive.item("a").id
            try drive.rename("a", "b")
            #expect(try await drive.item("b").id == a)
            #expect(try await drive.pendingText() == ["b: moved", "b: deleted"])
        }
    }

    @Test("an ephemeral file is local only, and ordinary once it has an ordinary name")
    func ephemeral() async throws {
        try await withDrive { drive in
            try drive.create(".doc.swp", "x")
            #expect(try await drive.item(".doc.swp").state == .localOnly)
            #expect(try await drive.pendingText() == [])
            try drive.rename(".doc.swp", "doc")
            #expect(try await drive.pendingText() == ["doc: created"])
        }
    }

    @Test(
        "a rename to another container keeps ids, drops bases of the whole subtree, and deletes them in the old one when the new one has it"
    )
    func acrossContainers() async throws {
        let notes = try #require(ContainerID("iCloud.com.example.Notes"))
        try await withDrive(containers: ContainerLayout([.init(notes, at: "Notes")])) { drive in
            try drive.makeDirectory("Notes")
            try drive.makeDirectory("dir")
            try drive.create("dir/doc", "one")
            try await drive.acknowledge("dir", "dir/doc")
            let before = try await drive.item("dir/doc")
            #expect(try await drive.pendingText(notes) == [])
            try drive.rename("dir", "Notes/dir")
            let after = try await drive.item("Notes/dir/doc")
            #expect(after.id == before.id)
            #expect(after.container == notes)
            #expect(try await drive.pendingText(notes) == ["dir: created", "dir/doc: created"])
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.item("Notes").isContainerRoot)
            for path in ["Notes/dir", "Notes/dir/doc"] as [RelativePath] {
                let base = try drive.base(path, container: notes, at: RelativePath(path.components.dropFirst()))
                let item = try await drive.item(path)
                drive.index.record(
                    .acknowledged(
                        .init(
                            item: item.id, base: base, fingerprint: try drive.present(path).fingerprint,
                            writersOpen: false)))
            }
            #expect(try await drive.pendingText(notes) == [])
            #expect(try await drive.pendingText() == ["dir/doc: deleted", "dir: deleted"])
        }
    }

    @Test("what arrives after its item was moved to another container stays until that has it")
    func arrivalAfterMove() async throws {
        let notes = try #require(ContainerID("iCloud.com.example.Notes"))
        try await withDrive(containers: ContainerLayout([.init(notes, at: "Notes")])) { drive in
            try drive.makeDirectory("Notes")
            try drive.create("doc", "one")
            let item = try await drive.item("doc")
            let (base, sent) = (try drive.base("doc"), try drive.present("doc").fingerprint)
            try drive.rename("doc", "Notes/doc")
            drive.index.record(
                .acknowledged(.init(item: item.id, base: base, fingerprint: sent, writersOpen: false)))
            #expect(try await drive.pendingText() == [])
            #expect(try await drive.pendingText(notes) == ["doc: created"])
            // A file in which another thing is than was sent is not there.
            let other = try drive.base("Notes/doc", container: notes, at: "doc")
            let present = try drive.present("Notes/doc").fingerprint
            drive.index.record(
                .acknowledged(.init(item: item.id, base: other, fingerprint: present, writersOpen: true)))
            #expect(try await drive.pendingText() == [])
            drive.index.record(
                .acknowledged(.init(item: item.id, base: other, fingerprint: present, writersOpen: false)))
            #expect(try await drive.pendingText() == ["doc: deleted"])
        }
    }
}
