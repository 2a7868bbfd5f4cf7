import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

@Suite(.timeLimit(.minutes(2))) struct TwoDevicesTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    private func devices() throws -> (Device, Device) {
        (try Device("one", provider: provider, clock: clock), try Device("two", provider: provider, clock: clock))
    }

    /// Two devices that have both edited `a.txt` since they were the same; the first has sent its edit.
    private func editedApart() async throws -> (Device, Device) {
        let (one, two) = try devices()
        try one.write("a.txt", "base")
        await one.sync()
        await two.sync()
        _ = try await two.open("a.txt")
        try one.write("a.txt", "from one")
        try two.write("a.txt", "from two")
        #expect(await one.sync() == .settled)
        return (one, two)
    }

    @Test("What one device writes is at the provider after sync, and on the other as a placeholder that can be opened")
    func createAndOpen() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("docs")
        try one.write("docs/a.txt", "hello")
        try one.link("docs/link", to: "a.txt")
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "docs/a.txt") == Array("hello".utf8))
        #expect(await two.sync() == .settled)
        #expect(try two.isDataless("docs/a.txt"))
        #expect(try two.listing() == one.listing())
        #expect(try await two.open("docs/a.txt") == "hello")
        #expect(try two.listing() == one.listing())
        #expect(await two.sync() == .settled)
        #expect(provider.operations.count { if case .put = $0 { true } else { false } } == 1)
    }

    @Test(
        "A placeholder that became a backup while the daemon was stopped gets its content before another takes its place",
        arguments: [false, true])
    func datalessBackup(isRefused: Bool) async throws {
        let faulty = FaultyProvider(provider)
        let (one, two) = (try devices().0, try Device("two", provider: faulty, clock: clock))
        try one.write("doc", "old")
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(try two.isDataless("doc"))
        try two.renameUnseen("doc", "doc~")
        try two.createUnseen("doc", "new")
        two.metadata.beginRescan()
        let service = two.restartedService(faulty)
        if isRefused {
            faulty.inject(Fault(.fetch, .failBefore(ProviderError(.failed, "not now")), times: nil))
            #expect(await service.syncNow(timeout: .seconds(5)) != .settled)
            #expect(provider.contents(at: "doc") == Array("old".utf8))
            #expect(try two.isDataless("doc~") && two.text("doc") == "new")
            faulty.clearFaults()
        }
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(try two.text("doc~") == "old" && two.text("doc") == "new")
        #expect(provider.contents(at: "doc") == Array("new".utf8))
        #expect(provider.contents(at: "doc~") == nil)
        #expect(try await two.pending().isEmpty)
        #expect(await one.sync() == .settled)
        #expect(try await one.open("doc") == "new")
        #expect(try Set(one.listing().keys) == ["doc"])
    }

    @Test("A document that was refused until the user was told is in conflict all the same once it rests")
    func refusedForLong() async throws {
        let (one, two) = try await editedApart()
        // As by programs that were writing all the time.
        let item = try #require(try await two.index.item(drivePath: "a.txt"))
        let retries = try #require(two.service.engines.first).context.retries
        for _ in 0..<100 { _ = retries.puzzled(.item(item.entry.id)) }
        for _ in 0..<5 {
            retries.failed(.item(item.entry.id), unchanged: nil, clock: clock.syncClock, limit: .seconds(60))
        }
        guard case .unresolved(let conflicts, let errors, 0) = await two.sync() else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && errors.isEmpty)
        #expect(try await two.open("a.txt") == "from one")
        await one.sync()
        #expect(try one.listing().keys.count == 2)
    }

    @Test("Edits made apart both survive on both devices; the first at the provider keeps the name")
    func conflict() async throws {
        let (one, two) = try await editedApart()
        guard case .unresolved(let conflicts, let errors, 0) = await two.sync() else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && errors.isEmpty)
        _ = await one.sync()
        let copy = try #require(conflicts.first)
        for device in [one, two] {
            #expect(try await device.open("a.txt") == "from one")
            #expect(try await device.open(copy) == "from two")
        }
        #expect(try one.listing() == two.listing())
    }

    @Test("An edit beats a deletion, whichever comes first")
    func editBeatsDelete() async throws {
        let (one, two) = try devices()
        try one.write("a", "1")
        try one.write("b", "2")
        await one.sync()
        await two.sync()
        for path in ["a", "b"] as [RelativePath] { _ = try await two.open(path) }
        try one.remove("a")
        try two.write("a", "edited")
        try two.remove("b")
        try one.write("b", "edited")
        for _ in 0..<3 {
            await one.sync()
            await two.sync()
        }
        for device in [one, two] {
            #expect(try await device.open("a") == "edited")
            #expect(try await device.open("b") == "edited")
        }
    }

    @Test("A directory removed on one device stays as long as another edited something in it")
    func directoryWithEdit() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        try one.write("d/a", "1")
        try one.write("d/b", "2")
        await one.sync()
        await two.sync()
        try two.write("d/new", "3")
        try one.remove("d")
        for _ in 0..<3 {
            await one.sync()
            await two.sync()
        }
        #expect(try one.listing() == two.listing())
        #expect(Set(try one.listing().keys) == ["d", "d/new"])
    }

    @Test("A lost answer to an upload is adopted, not uploaded again and no conflict")
    func lostAnswer() async throws {
        let faulty = FaultyProvider(provider)
        let one = try Device("one", provider: faulty, clock: clock)
        faulty.inject(Fault(.put, .failAfter(ProviderError(.failed, "the answer got lost"))))
        try one.write("a", "text")
        #expect(await one.sync() == .settled)
        #expect(faulty.count(.put) <= 2)
        #expect(try one.listing().count == 1)
    }

    /// The same content under another version, as from a server that makes up a new entity tag.
    private func comesAgain(_ path: RelativePath, mtime: FileTime? = nil) throws {
        let content = try #require(provider.contents(at: path))
        let item = try #require(provider.items.first { $0.path == path })
        provider.edit { $0.write(path, .file(content), mtime: mtime ?? item.mtime) }
    }

    @Test(
        "Content that comes again under another version replaces no file", arguments: [nil, FileTime(nanoseconds: 5)])
    func sameContentAgain(mtime: FileTime?) async throws {
        let one = try Device("one", provider: provider, clock: clock)
        try one.write("a.txt", "text")
        #expect(await one.sync() == .settled)
        let inode = try one.tree.requiredStatus(at: "a.txt").inode
        try comesAgain("a.txt", mtime: mtime)
        #expect(await one.sync() == .settled)
        let status = try one.tree.requiredStatus(at: "a.txt")
        #expect(status.inode == inode && (mtime == nil || status.mtime == mtime))
        let item = try #require(try await one.index.item(drivePath: "a.txt"))
        #expect(item.base?.version == provider.items.first?.version)
        #expect(try await one.pending().isEmpty)
        try one.write("a.txt", "edited")
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "a.txt") == Array("edited".utf8))
    }

    @Test("An edit made here while the same content comes again is uploaded, and is no conflict")
    func editWhileSameContentComesAgain() async throws {
        let faulty = FaultyProvider(provider)
        let one = try Device("one", provider: faulty, clock: clock)
        try one.write("a.txt", "text")
        #expect(await one.sync() == .settled)
        let inode = try one.tree.requiredStatus(at: "a.txt").inode
        try comesAgain("a.txt")
        let gate = Gate()
        faulty.inject(Fault(.fetch, .holdAnswer(gate)))
        let service = one.service
        let synced = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        try one.write("a.txt", "edited")
        gate.open()
        _ = await synced.value
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "a.txt") == Array("edited".utf8))
        #expect(Set(try one.listing().keys) == ["a.txt"])
        #expect(try one.tree.requiredStatus(at: "a.txt").inode == inode)
    }

    @Test("While the provider is away everything local goes on, and sync says so")
    func offline() async throws {
        let (one, _) = try devices()
        provider.isOnline = false
        try one.write("a", "text")
        guard case .unreachable(_, let pending) = await one.sync() else {
            Issue.record("not unreachable")
            return
        }
        #expect(pending == 1)
        provider.isOnline = true
        #expect(await one.sync() == .settled)
    }

    @Test("A name the provider cannot hold is parked, and does not hold up others")
    func parked() async throws {
        let plain = MemoryProvider(capabilities: MemoryProvider.plain)
        let one = try Device("one", provider: plain, clock: clock)
        try one.link("link", to: "target")
        try one.write("a", "text")
        guard case .unresolved(let conflicts, let errors, _) = await one.sync() else {
            Issue.record("nothing parked")
            return
        }
        #expect(conflicts.isEmpty && errors.count == 1)
        #expect(plain.contents(at: "a") != nil)
    }

    @Test(
        "What the provider did not take waits for a change, or for the user to ask",
        arguments: [ProviderError.Code.unsupported, .invalidName])
    func askedAgain(code: ProviderError.Code) async throws {
        let faulty = FaultyProvider(provider)
        faulty.inject(Fault(.put, .failBefore(ProviderError(code, "it is larger than the server takes")), path: "a"))
        let one = try Device("one", provider: faulty, clock: clock)
        try one.write("a", "text")
        guard case .unresolved(_, let errors, _) = await one.sync() else {
            Issue.record("nothing parked")
            return
        }
        #expect(errors.count == 1)
        clock.advance(.seconds(86_400))
        let engine = try #require(one.service.engines.first)
        #expect(await engine.round(isUrgent: false, pulls: false).push.sent == 0)
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "a") != nil)
    }

    @Test("A document whose name the provider does not take gives way to a directory that comes there")
    func refusedName() async throws {
        let faulty = FaultyProvider(provider)
        let refusal = ProviderError(.invalidName, "the store does not take this name; rename it")
        faulty.inject(Fault(.put, .failBefore(refusal), path: "a", times: nil))
        let one = try Device("one", provider: faulty, clock: clock)
        try one.write("a", "text")
        guard case .unresolved(_, let refused, _) = await one.sync() else {
            Issue.record("nothing parked")
            return
        }
        #expect(refused.count == 1)
        provider.edit { tree in
            tree.write("a", .directory)
            tree.write("a/b", "inside")
        }
        guard case .unresolved(let conflicts, let errors, _) = await one.sync() else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && errors.isEmpty)
        let names = Set(try one.listing().keys)
        #expect(names.count == 3 && names.isSuperset(of: ["a", "a/b"]))
        #expect(Set(provider.items.map(\.path)) == names)
    }

    @Test("regression: an error that an earlier daemon told is taken back when its cause is gone")
    func parkedBefore() async throws {
        let faulty = FaultyProvider(provider)
        faulty.inject(Fault(.put, .failBefore(ProviderError(.noSpace, "full")), times: nil))
        let one = try Device("one", provider: faulty, clock: clock)
        try one.write("a", "text")
        guard case .unresolved(_, let errors, _) = await one.sync() else {
            Issue.record("nothing parked")
            return
        }
        #expect(errors.count == 1)
        #expect(await one.restartedService(provider).syncNow(timeout: nil) == .settled)
        #expect(provider.contents(at: "a") != nil)
    }

    @Test("Local files over which a first listing comes are adopted when equal, and kept beside when not")
    func rebuiltIndex() async throws {
        provider.edit { tree in
            tree.write("same", "equal")
            tree.write("other", "theirs")
        }
        let one = try Device("one", provider: provider, clock: clock)
        try one.write("same", "equal")
        try one.write("other", "mine!!")
        _ = await one.sync()
        let names = Set(try one.listing().keys)
        #expect(names.count == 3)
        #expect(try await one.open("other") == "theirs")
        #expect(!provider.operations.contains(.put("same")))
    }

    @Test("A listing in which everything is missing removes nothing until the user confirms")
    func suspiciousListing() async throws {
        let (one, _) = try devices()
        let names = (0..<30).map { RelativePath([FileName("\($0)") ?? "x"]) }
        for name in names { try one.write(name, "text of \(name)") }
        await one.sync()
        provider.edit { tree in for name in names { tree.remove(name) } }
        guard case .unresolved(_, _, let held) = await one.sync() else {
            Issue.record("not held")
            return
        }
        #expect(held == 30)
        #expect(try one.listing().count == 30)
        #expect(await one.service.status().heldDeletions == 30)
        #expect(try await one.service.confirmDeletions() == 30)
        #expect(await one.sync() == .settled)
        #expect(try one.listing().isEmpty)
    }

    @Test("Only clean, uploaded, unpinned files are evicted, and come back when opened")
    func evict() async throws {
        let (one, _) = try devices()
        try one.write("a", "text")
        await #expect(throws: QuireError.self) { try await one.service.evict("a") }
        await one.sync()
        #expect(try await one.service.evict("a") == 1)
        #expect(try one.isDataless("a"))
        #expect(try await one.open("a") == "text")
        try await one.service.pin("a")
        await #expect(throws: QuireError.self) { try await one.service.evict("a") }
    }

    @Test("Keeping a conflict's copy makes it the document on all devices")
    func resolve() async throws {
        let (one, two) = try devices()
        try one.write("a", "base")
        await one.sync()
        await two.sync()
        _ = try await two.open("a")
        try one.write("a", "from one")
        try two.write("a", "from two")
        await one.sync()
        guard case .unresolved(let conflicts, _, _) = await two.sync(), let copy = conflicts.first else {
            Issue.record("no conflict")
            return
        }
        _ = try await two.open("a")
        try await two.service.resolveConflict(copy, keep: .copy)
        #expect(await two.sync() == .settled)
        #expect(await one.sync() == .settled)
        #expect(try await one.open("a") == "from two")
        #expect(try one.listing().count == 1)
    }

    @Test("Keeping the original of a conflict keeps the copy's content among the kept versions")
    func resolveOriginal() async throws {
        let (one, two) = try devices()
        try one.write("a", "base")
        await one.sync()
        await two.sync()
        _ = try await two.open("a")
        try one.write("a", "from one")
        try two.write("a", "from two")
        await one.sync()
        await two.sync()
        guard case .unresolved(let conflicts, _, _) = await one.sync(), let copy = conflicts.first else {
            Issue.record("no conflict")
            return
        }
        #expect(try one.isDataless(copy))
        try await one.service.resolveConflict(copy, keep: .original)
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(Array(try one.listing().keys) == ["a"])
        #expect(try two.listing() == one.listing())
        let items = try one.home.keptVersions.items()
        #expect(try items.flatMap { try one.home.keptVersions.list($0) }.map(\.status.size) == [8])
    }

    @Test("A file that is open for writing is uploaded by sync as it is, and once more when it was written to again")
    func openFile() async throws {
        let (one, _) = try devices()
        try one.write("log", "first")
        one.openForWriting.insert(try one.tree.requiredStatus(at: "log").inode)
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "log") == Array("first".utf8))
        try one.write("log", "first, second")
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "log") == Array("first, second".utf8))
        one.openForWriting.removeAll()
        try one.write("log", "last")
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "log") == Array("last".utf8))
    }

    @Test(
        "A file that is open for writing, and has the content that is at the provider, is settled",
        arguments: [true, false])
    func openAsBefore(keepsAttributes: Bool) async throws {
        var capabilities = MemoryProvider.full
        capabilities.attributes = keepsAttributes
        let store = MemoryProvider(capabilities: capabilities)
        let one = try Device("one", provider: store, clock: clock)
        try one.write("log", "text")
        #expect(await one.sync() == .settled)
        one.openForWriting.insert(try one.tree.requiredStatus(at: "log").inode)
        for text in ["text", "text", "more"] {
            try one.write("log", text)
            #expect(await one.service.syncNow(timeout: .seconds(20)) == .settled)
            #expect(store.contents(at: "log") == Array(text.utf8))
        }
    }

    @Test("regression: a time set on a symlink reaches the other device, and is not undone here")
    func symlinkTime() async throws {
        let (one, two) = try devices()
        try one.link("link", to: "target")
        await one.sync()
        await two.sync()
        try one.touch("link")
        let time = try one.tree.requiredStatus(at: "link").mtime
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(await one.sync() == .settled)
        for device in [one, two] { #expect(try device.tree.requiredStatus(at: "link").mtime == time) }
    }

    @Test("A provider that keeps no attributes changes none here")
    func noAttributes() async throws {
        var capabilities = MemoryProvider.full
        capabilities.attributes = false
        let store = MemoryProvider(capabilities: capabilities)
        let one = try Device("one", provider: store, clock: clock)
        try one.makeDirectory("d")
        try one.write("d/a", "text")
        try one.link("l", to: "a")
        #expect(await one.sync() == .settled)
        let before = try one.listing()
        store.edit { $0.write("new", "text") }
        #expect(await one.sync() == .settled)
        try one.chmod("d/a", 0o600)
        #expect(await one.sync() == .settled)
        #expect(try one.listing()["d/a"] == before["d/a"]?.replacingMode("600"))
    }

    @Test("Sync returns when its time is up, and what it began goes on")
    func timeout() async throws {
        let faulty = FaultyProvider(provider)
        let one = try Device("one", provider: faulty, clock: clock)
        let gate = Gate()
        faulty.inject(Fault(.put, .hold(gate)))
        try one.write("a", "text")
        clock.advance(.seconds(1))
        #expect(await one.service.syncNow(timeout: .milliseconds(10)) == .timedOut(pending: 1))
        gate.open()
        #expect(await one.sync() == .settled)
        #expect(faulty.count(.put) == 1)
    }
}

extension String {
    /// A line of a listing with another mode.
    fileprivate func replacingMode(_ mode: String) -> String {
        var parts = split(separator: " ").map(String.init)
        if parts.count == 4 { parts[2] = mode }
        return parts.joined(separator: " ")
    }
}
