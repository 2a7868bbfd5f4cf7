import QuireCore
import QuireIndex
import QuireProviders
import QuireSync
import Testing

/// What is moved from one provider's container to another's is there before the first one's goes.
@Suite(.timeLimit(.minutes(1))) struct ContainerMovesTests {
    let clock = TestClock()
    let home = MemoryProvider()
    let work = MemoryProvider()
    let device: Device
    /// Between the device and `work`.
    let faulty: FaultyProvider
    let container: ContainerID

    init() throws {
        faulty = FaultyProvider(work)
        device = try Device("one", provider: home, clock: clock)
        container = try #require(ContainerID("org.example.work"))
    }

    /// Has `Work` kept by a provider of its own.
    private func makeContainer() async throws {
        let own = SyncedContainer(
            id: .default, root: .root, excluded: ["Work"], providerName: "home", provider: home,
            identity: RememberedIdentity())
        let other = SyncedContainer(
            id: container, root: "Work", providerName: "work", provider: faulty, identity: RememberedIdentity())
        try await device.service.replaceContainers([own, other]) {
            device.metadata.setContainers(ContainerLayout([.init(container, at: "Work")]))
        }
    }

    /// Moves `doc`, with "content", into `Work`, after it was sent.
    private func moveDocument() async throws {
        try device.makeDirectory("Work")
        try device.write("doc", "content")
        try await makeContainer()
        #expect(await device.sync() == .settled)
        try device.rename("doc", "Work/doc")
    }

    private func text(_ path: RelativePath, _ provider: MemoryProvider) -> String? {
        provider.contents(at: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Syncs for longer than any deletion waits, while the other provider takes nothing.
    private func syncInVain() async {
        faulty.inject(Fault(.put, .failBefore(ProviderError(.noSpace, "full")), times: nil))
        for _ in 0..<3 {
            clock.advance(.seconds(60))
            #expect(await device.sync() != .settled)
        }
    }

    private func syncInTheEnd() async throws {
        faulty.clearFaults()
        clock.advance(.seconds(60))
        #expect(await device.sync() == .settled)
        #expect(try await device.index.conflictCopies() == [])
        #expect(try await device.pending().isEmpty)
    }

    @Test("A document stays at its old provider until the new one has it, and goes then")
    func document() async throws {
        try await moveDocument()
        await syncInVain()
        #expect(text("doc", home) == "content")
        let waiting = try await device.service.waitingUploads(limit: 10)
        #expect(waiting.first { $0.path == "doc" }?.reason == .moved)
        #expect(await device.service.status().pending.deletions == 1)
        try await syncInTheEnd()
        #expect(text("doc", home) == nil)
        #expect(text("doc", work) == "content")
    }

    @Test("So do all of a directory's, and a new directory of its name does not wait for them")
    func directory() async throws {
        try device.makeDirectory("Work")
        try device.makeDirectory("dir")
        let names = (0..<20).map { RelativePath("dir").appending(FileName(unchecked: Array("doc\($0)".utf8))) }
        for name in names { try device.write(name, "content") }
        try await makeContainer()
        #expect(await device.sync() == .settled)
        try device.rename("dir", "Work/dir")
        try device.makeDirectory("dir")
        try device.write("dir/other", "new")
        await syncInVain()
        for name in names { #expect(text(name, home) == "content", "\(name)") }
        #expect(text("dir/other", home) == "new")
        try await syncInTheEnd()
        for name in names {
            #expect(text(name, home) == nil, "\(name)")
            #expect(text(name, work) == "content", "\(name)")
        }
        #expect(text("dir/other", home) == "new")
    }

    @Test("What lies in a directory of which a container with another provider is made stays at the first one for good")
    func newContainer() async throws {
        try device.makeDirectory("Work")
        try device.makeDirectory("Work/dir")
        try device.write("Work/dir/doc", "content")
        #expect(await device.sync() == .settled)
        try await makeContainer()
        await syncInVain()
        #expect(text("Work/dir/doc", home) == "content")
        try await syncInTheEnd()
        #expect(text("Work/dir/doc", home) == "content")
        #expect(text("dir/doc", work) == "content")
    }

    @Test("A new document under the old name does not take its place there before it has arrived")
    func newDocument() async throws {
        try await moveDocument()
        try device.write("doc", "another document")
        await syncInVain()
        #expect(text("doc", home) == "content")
        try await syncInTheEnd()
        #expect(text("doc", home) == "another document")
        #expect(text("doc", work) == "content")
    }

    @Test("Moved over a document that is there already, it has arrived when its content has")
    func overAnother() async throws {
        try device.makeDirectory("Work")
        try device.write("doc", "content")
        try await makeContainer()
        try device.write("Work/doc", "another document")
        #expect(await device.sync() == .settled)
        try device.rename("doc", "Work/doc")
        await syncInVain()
        #expect(text("doc", home) == "content")
        try await syncInTheEnd()
        #expect(text("doc", home) == nil)
        #expect(text("doc", work) == "content")
    }

    @Test(
        "Deleted before it arrived, or moved into a trash, it is deleted at its old provider", arguments: [true, false])
    func deleted(isRemoved: Bool) async throws {
        try await moveDocument()
        await syncInVain()
        if isRemoved {
            try device.remove("Work/doc")
        } else {
            try device.makeDirectory(".Trash-1000")
            try device.rename("Work/doc", ".Trash-1000/doc")
        }
        clock.advance(.seconds(60))
        #expect(await device.sync() == .settled)
        #expect(text("doc", home) == nil)
        #expect(text("doc", work) == nil)
    }

    @Test("Moved back before it arrived, it is the document that it was")
    func movedBack() async throws {
        try await moveDocument()
        await syncInVain()
        let version = try await home.item(at: "doc")?.version
        try device.rename("Work/doc", "doc")
        try await syncInTheEnd()
        #expect(try await home.item(at: "doc")?.version == version)
        #expect(text("doc", work) == nil)
    }

    @Test("Moved back over a new document of its old name before it arrived, it takes that one's place")
    func movedBackOverAnother() async throws {
        try await moveDocument()
        await syncInVain()
        try device.write("doc", "another document")
        await syncInVain()
        try device.write("Work/doc", "edited")
        try device.rename("Work/doc", "doc")
        try await syncInTheEnd()
        #expect(text("doc", home) == "edited")
        #expect(text("doc", work) == nil)
    }

    enum Swap: CaseIterable { case exchange, byThreeRenames }

    @Test("Two documents that change places between containers both arrive", arguments: Swap.allCases)
    func changedPlaces(_ swap: Swap) async throws {
        try device.makeDirectory("Work")
        try device.write("doc", "one")
        try await makeContainer()
        try device.write("Work/doc", "two")
        #expect(await device.sync() == .settled)
        try change("doc", "Work/doc", swap)
        try await syncInTheEnd()
        #expect(text("doc", home) == "two")
        #expect(text("doc", work) == "one")
        #expect(try [device.text("Work/doc"), device.text("doc")] == ["one", "two"])
    }

    @Test("So do three in a ring, and those of two directories", arguments: Swap.allCases)
    func changedPlacesInRings(_ swap: Swap) async throws {
        try device.makeDirectory("Work")
        for directory in ["a", "b"] as [RelativePath] {
            try device.makeDirectory(directory)
            try device.write(directory.appending("README" as FileName), "\(directory)")
        }
        try device.write("doc", "one")
        try device.write("other", "three")
        try await makeContainer()
        try device.makeDirectory("Work/b")
        try device.write("Work/b/README", "work b")
        try device.write("Work/doc", "two")
        #expect(await device.sync() == .settled)
        try change("a", "Work/b", swap)
        try device.rename("doc", "spare")
        try device.rename("Work/doc", "doc")
        try device.rename("other", "Work/doc")
        try device.rename("spare", "other")
        try await syncInTheEnd()
        #expect(["doc", "other", "a/README", "b/README"].map { text($0, home) } == ["two", "one", "work b", "b"])
        #expect(["doc", "b/README"].map { text($0, work) } == ["three", "a"])
    }

    private func change(_ first: RelativePath, _ second: RelativePath, _ swap: Swap) throws {
        guard swap == .byThreeRenames else { return try device.exchange(first, second) }
        try device.rename(first, "between")
        try device.rename(second, first)
        try device.rename("between", second)
    }

    @Test("Moved back over another document that was moved into its old place, it is sent", arguments: Swap.allCases)
    func movedBackOverMoved(_ swap: Swap) async throws {
        try device.write("other", "other")
        try await moveDocument()
        try device.rename("other", "doc")
        if swap == .exchange { try device.exchange("Work/doc", "doc") } else { try device.rename("Work/doc", "doc") }
        try await syncInTheEnd()
        #expect(text("doc", home) == "content" && text("other", home) == nil)
        #expect(text("doc", work) == (swap == .exchange ? "other" : nil))
    }

    @Test("Moved back into a new directory of its old name, it is sent")
    func movedBackIntoDirectory() async throws {
        try await moveDocument()
        try device.makeDirectory("doc")
        try device.rename("Work/doc", "doc/doc")
        try await syncInTheEnd()
        #expect(text("doc/doc", home) == "content" && text("doc", work) == nil)
    }

    @Test("A document and a directory that change places between containers both arrive", arguments: Swap.allCases)
    func changedKinds(_ swap: Swap) async throws {
        try device.makeDirectory("Work")
        try device.write("x", "document")
        try await makeContainer()
        try device.makeDirectory("Work/x")
        try device.write("Work/x/inside", "inside")
        #expect(await device.sync() == .settled)
        try change("x", "Work/x", swap)
        try await syncInTheEnd()
        #expect(text("x/inside", home) == "inside" && text("x", work) == "document")
    }

    @Test("Three directories that change places between containers arrive with all that is in them")
    func changedDirectories() async throws {
        try device.makeDirectory("Work")
        try device.makeDirectory("a")
        try device.write("a/README", "a")
        try await makeContainer()
        for name in ["b", "c"] {
            try device.makeDirectory(RelativePath(stringLiteral: "Work/\(name)"))
            try device.write(RelativePath(stringLiteral: "Work/\(name)/README"), name)
        }
        #expect(await device.sync() == .settled)
        try device.rename("a", "spare")
        try device.rename("Work/c", "a")
        try device.rename("Work/b", "Work/c")
        try device.rename("spare", "Work/b")
        try await syncInTheEnd()
        #expect(text("a/README", home) == "c")
        #expect(text("b/README", work) == "a" && text("c/README", work) == "b")
    }

    @Test("A document in the place of a directory out of which one was moved to where nothing goes up is sent")
    func overDirectory() async throws {
        try device.makeDirectory("Work")
        try device.makeDirectory("dir")
        try device.write("dir/f", "content")
        try await makeContainer()
        #expect(await device.sync() == .settled)
        try device.rename("dir/f", "Work/f")
        try device.rename("Work/f", "Work/f~")
        try device.remove("dir")
        try device.write("dir", "new")
        try await syncInTheEnd()
        #expect(text("dir", home) == "new")
    }

    @Test(
        "Moved on to where nothing goes up before it arrived, it keeps no other from its old place",
        arguments: [true, false])
    func movedToNowhere(isFirst: Bool) async throws {
        try await moveDocument()
        await syncInVain()
        if isFirst { try device.rename("Work/doc", "Work/doc~") }
        try device.write("doc", "another document")
        if !isFirst {
            await syncInVain()
            #expect(text("doc", home) == "content")
            try device.rename("Work/doc", "Work/doc~")
        }
        try await syncInTheEnd()
        #expect(text("doc", home) == "another document")
    }

    @Test("Saved by exchanging it with a temporary before it arrived, it stays the document, and is waited for")
    func savedByExchange() async throws {
        try await moveDocument()
        await syncInVain()
        let document = try #require(try await device.metadata.item(at: "Work/doc"))
        try device.write("Work/.goutputstream-1", "edited")
        try device.exchange("Work/.goutputstream-1", "Work/doc")
        try device.remove("Work/.goutputstream-1")
        await syncInVain()
        #expect(text("doc", home) == "content")
        #expect(try await device.metadata.item(at: "Work/doc")?.id == document.id)
        try await syncInTheEnd()
        #expect(text("doc", home) == nil)
        #expect(text("doc", work) == "edited")
    }

    @Test(
        "Saved anew by way of another file before it arrived, it is waited for all the same", arguments: [true, false])
    func savedAnew(hasBackup: Bool) async throws {
        try await moveDocument()
        try await device.index.settle()
        if hasBackup {
            try device.rename("Work/doc", "Work/doc~")
            try device.write("Work/doc", "edited")
        } else {
            try device.write("Work/.goutputstream-1", "edited")
            try device.rename("Work/.goutputstream-1", "Work/doc")
        }
        await syncInVain()
        #expect(text("doc", home) == "content")
        try await syncInTheEnd()
        #expect(text("doc", home) == nil)
        #expect(text("doc", work) == "edited")
    }
}
