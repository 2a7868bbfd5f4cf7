import GRDB
import QuireCore
@testable import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Synchronization
import Testing

/// Uploads that arrived, while this device does not know it: the daemon died, or the connection was cut.
@Suite(.timeLimit(.minutes(1))) struct LostAnswersTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// A device whose next upload arrives and is not answered, and which has uploaded `doc`.
    private func device() async throws -> (Device, FaultyProvider) {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("doc", "first")
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.put, .failAfter(ProviderError(.unavailable, "the connection was cut"))))
        return (device, faulty)
    }

    private func text(_ path: RelativePath) -> String? {
        memory.contents(at: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Syncs until all is settled, as the time passes.
    private func settle(_ device: Device) async throws {
        for _ in 0..<4 {
            clock.advance(.seconds(120))
            if await device.sync() == .settled { break }
        }
        #expect(try await device.pending().isEmpty)
        #expect(try await device.index.unansweredUploads(.default).isEmpty)
        #expect(try await device.index.conflictCopies().isEmpty)
    }

    @Test("A document that is written again before the answer comes is no conflict with itself")
    func writtenAgain() async throws {
        let (device, _) = try await device()
        try device.write("doc", "second")
        #expect(await device.sync() != .settled)
        #expect(text("doc") == "second")
        try device.write("doc", "third, longer")
        try await settle(device)
        #expect(text("doc") == "third, longer")
        #expect(try device.listing().count == 1)
    }

    @Test("Of several uploads that were cut off, whichever arrived is known again")
    func severalAttempts() async throws {
        let (device, faulty) = try await device()
        try device.write("doc", "second")
        #expect(await device.sync() != .settled)
        faulty.inject(Fault(.item, .failBefore(ProviderError(.unavailable, "the connection was cut"))))
        faulty.inject(Fault(.put, .failBefore(ProviderError(.unavailable, "the connection was cut"))))
        try device.write("doc", "third, longer")
        clock.advance(.seconds(120))
        #expect(await device.sync() != .settled)
        try device.write("doc", "fourth, longer still")
        try await settle(device)
        #expect(text("doc") == "fourth, longer still")
        #expect(try device.listing().count == 1)
    }

    @Test("A new document that is renamed before the answer comes is one document")
    func renamed() async throws {
        let (device, _) = try await device()
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        try device.rename("new", "other")
        try await settle(device)
        #expect(text("new") == nil)
        #expect(text("other") == "text")
        #expect(try device.listing().keys.sorted { $0.description < $1.description } == ["doc", "other"])
    }

    @Test("A new document that is removed before the answer comes does not return")
    func removed() async throws {
        let (device, _) = try await device()
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        try device.remove("new")
        try await settle(device)
        #expect(text("new") == nil)
        #expect(try Array(device.listing().keys) == ["doc"])
    }

    @Test(
        "What was renamed or removed before the answer comes stays so, also where the provider cannot be asked at first",
        arguments: [true, false])
    func unknownFate(isRenamed: Bool) async throws {
        let (device, faulty) = try await device()
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        if isRenamed { try device.rename("new", "other") } else { try device.remove("new") }
        for _ in 0..<3 {
            faulty.inject(Fault(.item, .failBefore(ProviderError(.failed, "the answer is garbage")), path: "new"))
            clock.advance(.seconds(20))
            #expect(await device.sync() != .settled)
            #expect(text("other") == nil)
        }
        try await settle(device)
        #expect(text("new") == nil)
        #expect(text("other") == (isRenamed ? "text" : nil))
        #expect(try device.listing().count == (isRenamed ? 2 : 1))
    }

    @Test(
        "A document of which the provider never says anything holds up others for some minutes only",
        arguments: [ProviderError.Code.failed, .unavailable])
    func neverTold(code: ProviderError.Code) async throws {
        let (device, faulty) = try await device()
        try device.write("new", "text")
        #expect(await device.sync() != .settled)
        faulty.inject(
            Fault(.item, .failBefore(ProviderError(code, "the answer is garbage")), path: "new", times: nil))
        try device.write("doc", "second")
        clock.advance(.seconds(20))
        _ = await device.sync()
        #expect(text("doc") == "first")
        clock.advance(.seconds(400))
        _ = await device.sync()
        #expect(text("doc") == "second")
    }

    @Test(
        "A document that the provider neither takes nor tells of holds up neither what is sent nor what comes, and is noted once",
        arguments: [false, true])
    func neverTakenOrTold(isToldAtFirst: Bool) async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("doc", "first")
        #expect(await device.sync() == .settled)
        let failure = ProviderError(.unavailable, "the gateway has timed out")
        faulty.inject(Fault(.put, .failBefore(failure), path: "new", times: nil))
        try device.write("new", "text")
        if isToldAtFirst {
            for _ in 0..<2 {
                clock.advance(.seconds(60))
                _ = await device.sync()
            }
        }
        faulty.inject(Fault(.item, .failBefore(failure), path: "new", times: nil))
        for _ in 0..<12 {
            clock.advance(.seconds(60))
            _ = await device.sync()
        }
        try device.write("doc", "second")
        memory.edit { $0.write("there", "from elsewhere") }
        for _ in 0..<2 {
            clock.advance(.seconds(60))
            _ = await device.sync()
        }
        #expect(text("doc") == "second")
        #expect(try await device.open("there") == "from elsewhere")
        #expect(try await device.index.unansweredUploads(.default).count <= 2)
    }

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

    private let cut = ProviderError(.unavailable, "the connection was cut")

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

    @Test("What another device wrote meanwhile is a conflict as ever")
    func anotherDevice() async throws {
        let (device, _) = try await device()
        try device.write("doc", "second")
        #expect(await device.sync() != .settled)
        memory.edit { $0.write("doc", "theirs") }
        try device.write("doc", "third")
        clock.advance(.seconds(120))
        _ = await device.sync()
        #expect(text("doc") == "theirs")
        #expect(try await device.index.conflictCopies().count == 1)
        #expect(try await device.index.unansweredUploads(.default).isEmpty)
    }

    @Test("An upload that never arrived is kept in mind until it did, or for an hour")
    func neverArrived() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        faulty.inject(Fault(.put, .failBefore(ProviderError(.unavailable, "the connection was cut")), times: nil))
        try device.write("doc", "first")
        for _ in 0..<2 {
            _ = await device.sync()
            #expect(try await device.index.unansweredUploads(.default).isEmpty == false)
            clock.advance(.seconds(120))
        }
        clock.advance(.seconds(4000))
        try device.remove("doc")
        _ = await device.sync()
        #expect(try await device.index.unansweredUploads(.default).isEmpty)
    }
}

extension LostAnswersTests {
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

    @Test("What another device put where an upload never arrived is not taken for that, once the document is gone here")
    func sameOfAnother() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        faulty.inject(Fault(.put, .failBefore(cut)))
        try device.write("doc", "same")
        #expect(await device.sync() != .settled)
        try device.remove("doc")
        memory.edit { $0.write("doc", "same") }
        faulty.tell(ContentChecksum.sha256(of: Array("same".utf8)), of: "doc")
        try await settle(device)
        #expect(try Array(device.listing().keys) == ["doc"])
        #expect(text("doc") == "same")
    }

    @Test("What lacks all that is noted with a document was cut off: it is this device's where the content is")
    func sameOfNobody() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        faulty.inject(Fault(.put, .failBefore(cut)))
        try device.write("doc", "same")
        #expect(await device.sync() != .settled)
        try device.remove("doc")
        memory.edit { $0.write("doc", "same") }
        try await settle(device)
        #expect(try device.listing().isEmpty)
        #expect(memory.items.isEmpty)
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
