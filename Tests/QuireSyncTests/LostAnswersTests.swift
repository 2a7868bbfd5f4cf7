import QuireCore
@testable import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Uploads that arrived, while this device does not know it: the daemon died, or the connection was cut.
@Suite(.timeLimit(.minutes(1))) struct LostAnswersTests {
    let clock = TestClock()
    let memory = MemoryProvider()
    let cut = ProviderError(.unavailable, "the connection was cut")

    /// A device whose next upload arrives and is not answered, and which has uploaded `doc`.
    private func device() async throws -> (Device, FaultyProvider) {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("doc", "first")
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.put, .failAfter(cut)))
        return (device, faulty)
    }

    private func text(_ path: RelativePath) -> String? {
        memory.contents(at: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Syncs until all is settled, as the time passes.
    func settle(_ device: Device) async throws {
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

    /// A device whose new document never went up, and was removed; then somebody else has put the same there.
    private func sameOfOthers() async throws -> (Device, FaultyProvider) {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        faulty.inject(Fault(.put, .failBefore(cut)))
        try device.write("doc", "same")
        #expect(await device.sync() != .settled)
        try device.remove("doc")
        memory.edit { $0.write("doc", "same") }
        return (device, faulty)
    }

    @Test("What another device put where an upload never arrived is not taken for that, once the document is gone here")
    func sameOfAnother() async throws {
        let (device, faulty) = try await sameOfOthers()
        faulty.tell(ContentChecksum.sha256(of: Array("same".utf8)), of: "doc")
        try await settle(device)
        #expect(try Array(device.listing().keys) == ["doc"])
        #expect(text("doc") == "same")
    }

    @Test("What lacks all that is noted with a document was cut off: it is this device's where the content is")
    func sameOfNobody() async throws {
        let (device, _) = try await sameOfOthers()
        try await settle(device)
        #expect(try device.listing().isEmpty)
        #expect(memory.items.isEmpty)
    }
}
