import GRDB
import QuireCore
@testable import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

/// The same of moves.
extension LostAnswersTests {
    @Test("A directory that was moved stays one, also where the provider cannot be asked at first")
    func unknownMove() async throws {
        let (device, faulty, memory) = try await forgetful()
        faulty.inject(Fault(.move, .failAfter(ProviderError(.failed, "the answer is garbage"))))
        faulty.inject(Fault(.item, .failBefore(ProviderError(.failed, "the answer is garbage")), path: "other"))
        try device.rename("dir", "other")
        #expect(await device.sync() != .settled)
        try device.remove("other/doc")
        try await settle(device)
        #expect(try Array(device.listing().keys) == ["other"])
        #expect(memory.items.map(\.path) == ["other"])
    }

    /// A device at a provider that recognises no moves.
    private func forgetful() async throws -> (device: Device, faulty: FaultyProvider, memory: MemoryProvider) {
        var capabilities = MemoryProvider.full
        capabilities.stableIdentifiers = false
        let memory = MemoryProvider(capabilities: capabilities)
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.makeDirectory("dir")
        try device.write("dir/doc", "text")
        #expect(await device.sync() == .settled)
        return (device, faulty, memory)
    }

    @Test("A directory that was moved while the answer was lost stays one, wherever it goes then")
    func movedDirectory() async throws {
        let (device, faulty, memory) = try await forgetful()
        let inode = try device.tree.requiredStatus(at: "dir/doc").inode
        faulty.inject(Fault(.move, .failAfter(cut)))
        try device.rename("dir", "other")
        #expect(await device.sync() != .settled)
        try device.rename("other", "third")
        try await settle(device)
        #expect(try Set(device.listing().keys) == ["third", "third/doc"])
        #expect(memory.contents(at: "third/doc") != nil && memory.contents(at: "other/doc") == nil)
        #expect(try device.tree.requiredStatus(at: "third/doc").inode == inode, "it was removed and brought again")
        #expect(faulty.count(.fetch) == 0)
    }

    @Test("A directory that was made while the answer was lost stays one, wherever it goes then")
    func madeDirectory() async throws {
        let (device, faulty, _) = try await forgetful()
        faulty.inject(Fault(.createDirectory, .failAfter(cut)))
        try device.makeDirectory("new")
        #expect(await device.sync() != .settled)
        try device.rename("new", "other")
        try await settle(device)
        #expect(try Set(device.listing().keys) == ["dir", "dir/doc", "other"])
    }

    @Test("A document that was moved while the answer was lost stays one, wherever it goes then")
    func movedDocument() async throws {
        let (device, faulty, memory) = try await forgetful()
        faulty.inject(Fault(.move, .failAfter(cut)))
        try device.rename("dir/doc", "doc")
        #expect(await device.sync() != .settled)
        try device.rename("doc", "third")
        try await settle(device)
        #expect(try Set(device.listing().keys) == ["dir", "third"])
        #expect(memory.contents(at: "third") != nil && memory.contents(at: "doc") == nil)
    }

    @Test("A move by a copy and a deletion is on the disk before it is asked for")
    func noteIsDurable() async throws {
        var capabilities = MemoryProvider.full
        (capabilities.stableIdentifiers, capabilities.directoryMoves) = (false, false)
        let device = try Device("one", provider: MemoryProvider(capabilities: capabilities), clock: clock)
        try device.write("old", "text")
        #expect(await device.sync() == .settled)
        let statements = Lock<[String]>([])
        try device.metadata.database.use { pool in
            pool.writeWithoutTransaction { db in
                db.trace { event in statements.withLock { $0.append(event.expandedDescription) } }
            }
        }
        try device.rename("old", "new")
        #expect(await device.sync() == .settled)
        let all = statements.withLock { $0 }
        let note = try #require(
            all.firstIndex { $0.contains("INSERT OR REPLACE INTO meta") && $0.contains("user.moves.") })
        let before = all[..<note].last { $0.contains("PRAGMA synchronous") }
        let after = all[note...].first { $0.contains("PRAGMA synchronous") || $0.hasPrefix("COMMIT") }
        #expect(before?.hasSuffix("FULL") == true && after?.hasPrefix("COMMIT") == true)
    }

    /// Has the provider have a copy of the document that is at a path here, of "text".
    private func copy(
        _ path: RelativePath, of device: Device, _ faulty: FaultyProvider, _ memory: MemoryProvider
    ) throws {
        let (time, text) = (try device.tree.requiredStatus(at: path).mtime, Array("text".utf8))
        memory.edit { $0.write(path, .file(text), mtime: time) }
        faulty.tell(ContentChecksum.sha256(of: text), of: path)
    }

    /// A device that has renamed `old` to `new`, which its provider, of those that move by a copy and a deletion, has not heard.
    private func awaitingCopy() async throws -> (device: Device, faulty: FaultyProvider, memory: MemoryProvider) {
        var capabilities = MemoryProvider.full
        (capabilities.stableIdentifiers, capabilities.directoryMoves) = (false, false)
        let memory = MemoryProvider(capabilities: capabilities)
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("old", "text")
        #expect(await device.sync() == .settled)
        try device.rename("old", "new")
        return (device, faulty, memory)
    }

    /// Has the device ask for its move, of which the connection is cut.
    private func cutMove(_ device: Device, _ faulty: FaultyProvider) async {
        faulty.inject(Fault(.move, .failBefore(cut)))
        clock.advance(.seconds(20))
        #expect(await device.sync() != .settled)
    }

    /// A device that has moved `dir/doc` to `doc` where the copy was made, and the original is there still.
    private func halfMoved(isDataless: Bool) async throws -> (Device, MemoryProvider) {
        let (device, faulty, memory) = try await forgetful()
        if isDataless { #expect(try await device.service.evict("dir/doc") == 1) }
        faulty.inject(Fault(.move, .failBefore(cut)))
        try device.rename("dir/doc", "doc")
        #expect(await device.sync() != .settled)
        try copy("doc", of: device, faulty, memory)
        return (device, memory)
    }

    @Test("A move that made a copy only is ended where the content is here; else both names have it")
    func halfMoved() async throws {
        for isDataless in [false, true] {
            let (device, memory) = try await halfMoved(isDataless: isDataless)
            try await settle(device)
            let names: Set<RelativePath> = isDataless ? ["dir", "dir/doc", "doc"] : ["dir", "doc"]
            #expect(try Set(device.listing().keys) == names)
            #expect(Set(memory.items.map(\.path)) == names)
            #expect(try await device.open("doc") == "text")
        }
    }

    @Test("A move that made a copy only is ended also where the document goes on to another name at that moment")
    func halfMovedAndGone() async throws {
        let (device, memory) = try await halfMoved(isDataless: false)
        // The index is not told of it yet.
        try device.renameUnseen("doc", "third")
        let context = try #require(device.service.engines.first).context
        await #expect(throws: SyncFailure.self) { try await LostAnswers(context: context).find(again: true) }
        #expect(memory.contents(at: "dir/doc") != nil)
        try device.renameUnseen("third", "doc")
        try device.rename("doc", "third")
        try await settle(device)
        #expect(try Set(device.listing().keys) == ["dir", "third"])
        #expect(Set(memory.items.map(\.path)) == ["dir", "third"])
    }

    @Test("A document that is removed before its move is known does not come back under its former name")
    func halfMovedAndRemovedHere() async throws {
        let (device, memory) = try await halfMoved(isDataless: false)
        try device.remove("doc")
        try await settle(device)
        #expect(try Set(device.listing().keys) == ["dir"])
        #expect(memory.items.map(\.path) == ["dir"])
    }

    @Test("What goes from its new name while its move is ended is kept as a version")
    func halfMovedAndRemoved() async throws {
        let (device, memory) = try await halfMoved(isDataless: false)
        clock.advance(.seconds(120))
        let context = try #require(device.service.engines.first).context
        #expect(try await LostAnswers(context: context).find(again: true) == 1)
        memory.edit { $0.remove("doc") }
        try await settle(device)
        #expect(try device.kept() == ["text"])
    }

    @Test("Another content of the same version is not what was moved")
    func oneVersion() {
        func item(_ content: [UInt8]?, size: Int64 = 1) -> RemoteItem {
            RemoteItem(
                path: "doc", kind: .file, version: ProviderVersion("1"), size: ByteCount(size),
                mtime: FileTime(seconds: 1, nanoseconds: 0), checksum: content.map { ContentChecksum.sha256(of: $0) })
        }
        let base = BaseRecord(container: .default, item([0x61]))
        #expect(LostAnswers.isSame(item([0x61]), base))
        #expect(LostAnswers.isSame(item(nil), base))
        #expect(!LostAnswers.isSame(item([0x62]), base))
        #expect(!LostAnswers.isSame(item(nil, size: 2), base))
    }

    @Test(
        "Documents that change names do so, also where a move's answer is lost and the daemon ends then",
        arguments: [true, false], [true, false])
    func swapped(hasIdentifiers: Bool, isHere: Bool) async throws {
        var capabilities = MemoryProvider.full
        capabilities.stableIdentifiers = hasIdentifiers
        let memory = MemoryProvider(capabilities: capabilities)
        memory.edit {
            $0.write("a", "of a")
            $0.write("b", "of b")
        }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        if isHere { for name in ["a", "b"] as [RelativePath] { #expect(try await device.open(name) != nil) } }
        try device.rename("a", "other")
        try device.rename("b", "a")
        try device.rename("other", "b")
        faulty.inject(Fault(.move, .failAfter(cut)))
        clock.advance(.seconds(20))
        #expect(await device.sync() != .settled)
        #expect(Set(memory.items.map(\.path)) != ["a", "b"])
        let service = device.restartedService(faulty)
        clock.advance(.seconds(100))
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(Set(memory.items.map(\.path)) == ["a", "b"])
        #expect(memory.contents(at: "a") == Array("of b".utf8) && memory.contents(at: "b") == Array("of a".utf8))
        #expect(try Set(device.listing().keys) == ["a", "b"])
        #expect(try await device.open("a") == "of b")
        #expect(try await device.open("b") == "of a")
    }

    @Test(
        "A document that was to be moved by a copy and a deletion has one name, where the daemon ended between both",
        arguments: [true, false])
    func halfMovedAtTheEnd(isCopied: Bool) async throws {
        let (device, faulty, memory) = try await awaitingCopy()
        await cutMove(device, faulty)
        if isCopied { try copy("new", of: device, faulty, memory) }
        let service = device.restartedService(faulty)
        clock.advance(.seconds(100))
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(memory.items.map(\.path) == ["new"])
        #expect(try Array(device.listing().keys) == ["new"])
    }

    @Test("So it has none where it was removed while no daemon could ask")
    func halfMovedAndRemovedAtTheEnd() async throws {
        let (device, faulty, memory) = try await awaitingCopy()
        await cutMove(device, faulty)
        try copy("new", of: device, faulty, memory)
        try device.remove("new")
        let service = device.restartedService(faulty)
        clock.advance(.seconds(100))
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(memory.items.isEmpty)
        #expect(try device.listing().isEmpty)
    }

    @Test("A copy that the provider makes long after the answer to a move is missing is known as that")
    func lateCopy() async throws {
        let (device, faulty, memory) = try await awaitingCopy()
        await cutMove(device, faulty)
        clock.advance(.seconds(1000))
        let context = try #require(device.service.engines.first).context
        #expect(try await LostAnswers(context: context).find(again: true) == 0)
        try copy("new", of: device, faulty, memory)
        try await settle(device)
        #expect(memory.items.map(\.path) == ["new"])
        #expect(try Array(device.listing().keys) == ["new"])
    }

    @Test("A copy that another device makes after a move that did not happen, and was taken back, is one document more")
    func takenBack() async throws {
        let (device, faulty, memory) = try await awaitingCopy()
        await cutMove(device, faulty)
        let context = try #require(device.service.engines.first).context
        #expect(try await LostAnswers(context: context).find(again: true) == 0)
        try copy("new", of: device, faulty, memory)
        try device.rename("new", "old")
        try await settle(device)
        #expect(Set(memory.items.map(\.path)) == ["old", "new"])
        #expect(try Set(device.listing().keys) == ["old", "new"])
    }

    @Test("What is missing at the provider as the answer to a move of its directory is not counted as deleted")
    func deletionBelowAMove() async throws {
        let (device, faulty, memory) = try await forgetful()
        try device.write("dir/other", "other")
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.move, .failAfter(ProviderError(.failed, "the server says 500")), path: "dir"))
        try device.remove("dir/doc")
        try device.rename("dir", "new")
        try await settle(device)
        #expect(try Set(device.listing().keys) == ["new", "new/other"])
        #expect(Set(memory.items.map(\.path)) == ["new", "new/other"])
    }

    @Test("A move that the provider has refused is not ended over what another device made there")
    func refusedMove() async throws {
        let (device, faulty, memory) = try await awaitingCopy()
        try copy("new", of: device, faulty, memory)
        clock.advance(.seconds(20))
        let engine = try #require(device.service.engines.first)
        _ = await engine.round(isUrgent: true, pulls: false)
        #expect(memory.contents(at: "old") != nil && memory.contents(at: "new") != nil)
    }
}
