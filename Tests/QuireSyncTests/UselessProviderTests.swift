import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Providers that answer, but not with anything that helps.
@Suite(.timeLimit(.minutes(1))) struct UselessProviderTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    @Test("A provider whose listings fail counts as away, says why, and is asked with growing pauses")
    func listingsFail() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        let words = "the server reported an error"
        faulty.inject(Fault(.changes, .failBefore(ProviderError(.failed, words)), times: nil))
        guard case .unreachable(let message, _) = await device.sync() else {
            Issue.record("sync did not say that the provider cannot be used")
            return
        }
        #expect(message.contains(words))
        let engine = try #require(device.service.engines.first)
        #expect(!engine.status.isOnline && engine.status.message?.contains(words) == true)
        let before = faulty.count(.changes)
        for _ in 0..<60 {
            _ = await engine.round(isUrgent: false, pulls: true)
            clock.advance(.milliseconds(500))
        }
        // After 1, 2, 4, 8 and 16 seconds, each cut by a quarter.
        #expect((3...7).contains(faulty.count(.changes) - before))
        faulty.clearFaults()
        #expect(await device.sync() == .settled)
        #expect(engine.status.isOnline && engine.status.message == nil)
    }

    @Test(
        "A secret that is refused is told with the command that renews it, whatever was tried",
        arguments: [ProviderCall.connect, .changes, .put, .delete, .fetch])
    func secretRefused(call: ProviderCall) async throws {
        memory.edit { $0.write("far", "text") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("doc", "text")
        #expect(await device.sync() == .settled)
        let refusal = ProviderError(
            .unavailable, "it does not accept the secret", cause: "401", isSecretRefused: true)
        faulty.inject(Fault(call, .failBefore(refusal), times: nil))
        let engine = try #require(device.service.engines.first)
        var message: String?
        switch call {
        case .connect: engine.disconnected("")
        case .put: try device.write("doc", "other")
        case .delete: try device.remove("doc")
        case .fetch:
            let error = await #expect(throws: QuireError.self) { try await device.service.download("far") }
            message = error?.message
        default: break
        }
        if call != .fetch, case .unreachable(let words, _) = await device.sync() { message = words }
        let name = engine.context.container.providerName
        let words = "it does not accept the secret; renew it: `quire provider secret \(name)` (401)"
        #expect(message?.contains(words) == true, "\(message ?? "nothing was told")")
    }

    @Test(
        "A pause is as long as ever where the clock is set back meanwhile",
        arguments: [(ProviderCall.changes, ProviderError.Code.failed), (.put, .failed), (.put, .noSpace)])
    func clockSetBack(call: ProviderCall, code: ProviderError.Code) async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        let engine = try #require(device.service.engines.first)
        faulty.inject(Fault(call, .failBefore(ProviderError(code, "not now")), times: nil))
        try device.write("before", "text")
        try await device.index.settle()
        clock.advance(.seconds(5))
        let report = await engine.round(isUrgent: false, pulls: true)
        #expect(report.offline != nil || report.parked == 1)
        faulty.clearFaults()
        clock.set(by: .seconds(-7200))
        clock.advance(.seconds(5))
        try device.write("after", "text")
        try await device.index.settle()
        for _ in 0..<2 {
            clock.advance(.seconds(5))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        #expect(memory.contents(at: "before") != nil && memory.contents(at: "after") != nil)
    }

    @Test("A document that waits, or has failed, says of itself what the account's list says of it")
    func reasons() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        memory.edit { $0.write("far", "text") }
        #expect(await device.sync() == .settled)
        func waiting(_ path: RelativePath) async throws -> WaitingUpload? {
            let item = try #require(try await device.index.item(drivePath: path))
            return try await device.service.waiting(item.entry.id)
        }
        #expect(try await waiting("far") == nil)
        try device.write("doc", "text")
        try await device.index.settle()
        let begin = try #require(try await waiting("doc"))
        // The clock may have gone on meanwhile.
        #expect([.settling, .queued].contains(begin.reason) && begin.message == nil)
        faulty.inject(Fault(.put, .failBefore(ProviderError(.noSpace, "the quota is used up")), times: nil))
        _ = await device.sync()
        let listed = try await device.service.waitingUploads(limit: 9)
        let own = try #require(try await waiting("doc"))
        #expect(listed.map(\.path) == ["doc"] && own.path == "doc")
        #expect(own.reason == .full && own.message?.contains("the quota is used up") == true)
        #expect(listed.map(\.message) == [own.message] && listed.map(\.reason) == [own.reason])
        // Something that was not to be sent, but to come.
        faulty.clearFaults()
        #expect(await device.sync() == .settled)
        #expect(try await waiting("doc") == nil)
        let far = try #require(try await device.index.item(drivePath: "far"))
        let engine = try #require(device.service.engines.first)
        await engine.context.park(.item(far.entry.id), SyncFailure(.park, "far cannot be made here"))
        let parked = try #require(try await waiting("far"))
        #expect(parked.reason == .parked && parked.message == "far cannot be made here" && parked.until != nil)
    }

    @Test("While a provider is of no use nobody asks it for thumbnails")
    func thumbnails() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        let room = PausableThumbnails(storage: memory, engine: try #require(device.service.engines.first))
        try await room.putThumbnail("1", [1])
        faulty.inject(Fault(.changes, .failBefore(ProviderError(.failed, "no listing")), times: nil))
        _ = await device.sync()
        await #expect { try await room.thumbnails(since: nil) } throws: { error in
            guard let error = error as? ProviderError else { return false }
            return error.code == .unavailable && error.description.contains("no listing")
        }
        faulty.clearFaults()
        #expect(await device.sync() == .settled)
        #expect(try await room.thumbnails(since: nil)?.entries.map(\.name) == ["1"])
    }

    @Test(
        "A provider that goes away is not asked for everything that waits",
        arguments: [ProviderError.Code.unavailable, .failed])
    func goesAway(code: ProviderError.Code) async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock, pushPart: 1000)
        #expect(await device.sync() == .settled)
        let trouble = Fault.Effect.failBefore(ProviderError(code, "the server reported an error"))
        for call in [ProviderCall.connect, .put, .changes] { faulty.inject(Fault(call, trouble, times: nil)) }
        for number in 0..<100 { try device.write(RelativePath(stringLiteral: "doc\(number)"), "text") }
        guard case .unreachable = await device.sync() else {
            Issue.record("sync did not say that the provider cannot be used")
            return
        }
        #expect(faulty.count(.put) <= 12)
        faulty.clearFaults()
        #expect(await device.sync() == .settled)
        #expect(memory.items.count == 100)
    }

    @Test("A provider that refuses one document after the other is looked at, also where each is a round of its own")
    func shortRounds() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        let engine = try #require(device.service.engines.first)
        for call in [ProviderCall.connect, .put] {
            faulty.inject(Fault(call, .failBefore(ProviderError(.failed, "the server reported an error")), times: nil))
        }
        var report = RoundReport()
        for number in 0..<20 where report.offline == nil {
            try device.write(RelativePath(stringLiteral: "doc\(number)"), "text")
            try await device.index.settle()
            clock.advance(.seconds(1))
            report = await engine.round(isUrgent: false, pulls: false)
        }
        #expect(report.offline != nil)
        #expect(faulty.count(.put) <= 6)
    }

    @Test("A provider that is full is not sent all that waits; what is smaller than what did not fit is")
    func full() async throws {
        let provider = MemoryProvider(quota: ByteCount(10))
        let faulty = FaultyProvider(provider)
        let device = try Device("one", provider: faulty, clock: clock, pushPart: 1000)
        for number in 0..<100 { try device.write(RelativePath(stringLiteral: "large\(number)"), "more than ten bytes") }
        guard case .unresolved(_, let errors, _) = await device.sync() else {
            Issue.record("sync did not say that something does not fit")
            return
        }
        #expect(errors.contains { $0.message.contains("does not fit") })
        #expect(faulty.count(.put) < 40)
        try device.write("small", "ten bytes!")
        clock.advance(.seconds(1))
        _ = await device.sync()
        #expect(provider.contents(at: "small") != nil)
    }

    @Test("Changes go up while listings fail")
    func uploads() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.changes, .failBefore(ProviderError(.failed, "no listing")), times: nil))
        try device.write("doc", "text")
        _ = await device.sync()
        clock.advance(.seconds(120))
        _ = await device.sync()
        #expect(memory.contents(at: "doc").map { String(decoding: $0, as: UTF8.self) } == "text")
    }

    @Test("A provider that may lose an update is not written to, unless that was accepted")
    func lossy() async throws {
        var lossy = MemoryProvider.full
        lossy.conditionalWrites = .detected
        let provider = MemoryProvider(capabilities: lossy)
        let accepting = try Device("one", provider: provider, clock: clock, acceptsLossy: true)
        try accepting.write("doc", "text")
        #expect(await accepting.sync() == .settled)
        // Written into a configuration, or with an index that was built anew.
        let new = try Device("two", provider: provider, clock: clock)
        try new.write("new", "text")
        try await expectRefused(new)
        #expect(provider.contents(at: "new") == nil)
        // One of a home of before the configuration said so.
        try await new.index.setValue("cursor.\(ContainerID.default)", "1")
        #expect(await new.sync() == .settled)
        // One that could not be tried before it was in use.
        var full = lossy
        full.conditionalWrites = .untried
        let untried = try Device("four", provider: MemoryProvider(capabilities: full), clock: clock)
        #expect(await untried.sync() == .settled)
        #expect(try await untried.index.value("provider.conditions.main") == "untried")
        let late = try Device("five", provider: provider, clock: clock)
        try await late.index.setValue("provider.conditions.main", "untried")
        try await late.index.setValue("cursor.\(ContainerID.default)", "1")
        try await expectRefused(late)
        // One that did better.
        let former = try Device("three", provider: provider, clock: clock)
        try await former.index.setValue("provider.conditions.main", "locked")
        try await former.index.setValue("cursor.\(ContainerID.default)", "1")
        try former.write("former", "text")
        try await expectRefused(former)
        #expect(provider.contents(at: "former") == nil)
    }

    private func expectRefused(_ device: Device) async throws {
        guard case .unreachable(let message, _) = await device.sync() else {
            Issue.record("it was written to")
            return
        }
        #expect(message.contains("overwrite each other") && message.contains("accept_lossy = true"))
    }

    @Test("Where another store is found, what says so names the command that has it used")
    func anotherStore() async throws {
        let device = try Device("one", provider: memory, clock: clock)
        try device.write("doc", "text")
        #expect(await device.sync() == .settled)
        let service = device.restartedService(MemoryProvider())
        guard case .unreachable(let message, _) = await service.syncNow(timeout: nil) else {
            Issue.record("it was used")
            return
        }
        #expect(message.contains("`quire provider reset main`"), "\(message)")
        // What only the former one has besides stays here.
        await #expect(throws: (any Error).self) { try await service.evict("doc") }
        #expect(try !device.isDataless("doc"))
    }

    @Test("While the index is behind, status tells what it knows")
    func indexBehind() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.put, .failBefore(ProviderError(.failed, "no")), path: "doc", times: nil))
        try device.write("doc", "text")
        _ = await device.sync()
        try device.refuseCommits(true)
        defer { #expect(throws: Never.self) { try device.refuseCommits(false) } }
        try device.write("other", "text")
        await #expect(throws: IndexError.self) { try await device.metadata.settle() }
        #expect(await device.service.status().errors.map(\.path) == ["doc"])
    }
}
