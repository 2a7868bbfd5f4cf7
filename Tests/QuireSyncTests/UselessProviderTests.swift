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

    @Test("A document that sends the provider away each time keeps no other from going up")
    func sentAway() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock, parallel: 1)
        #expect(await device.sync() == .settled)
        let engine = try #require(device.service.engines.first)
        try device.write("bad", "text")
        clock.advance(.milliseconds(10))
        try device.write("good", "text")
        let trouble = Fault.Effect.failBefore(ProviderError(.unavailable, "the connection was lost"))
        faulty.inject(Fault(.put, trouble, path: "bad", times: nil))
        for _ in 0..<8 where memory.contents(at: "good") == nil {
            clock.advance(.seconds(120))
            if await engine.round(isUrgent: true, pulls: false).offline == nil { continue }
            // Away for a moment.
            faulty.inject(Fault(.connect, trouble))
            #expect(await engine.round(isUrgent: true, pulls: false).offline != nil)
        }
        #expect(memory.contents(at: "good") != nil)
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

    @Test("A provider that has lost its conditions is not written to; one that never had any is")
    func conditionsLost() async throws {
        var lossy = MemoryProvider.full
        lossy.conditionalWrites = .detected
        let provider = MemoryProvider(capabilities: lossy)
        let accepted = try Device("one", provider: provider, clock: clock)
        try accepted.write("doc", "text")
        #expect(await accepted.sync() == .settled)
        let other = try Device("two", provider: provider, clock: clock)
        try await other.index.setValue("provider.conditions.main", "locked")
        try other.write("new", "text")
        guard case .unreachable(let message, _) = await other.sync() else {
            Issue.record("it was written to")
            return
        }
        #expect(message.contains("overwrite each other") && provider.contents(at: "new") == nil)
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

    private let timeout = ProviderError(.unavailable, "504 Gateway Timeout")

    @Test("A document that never goes up, as if the provider were away, holds up nothing else")
    func neverSent() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.put, .failBefore(timeout), path: "large", times: nil))
        try device.write("large", "text")
        _ = await device.sync()
        memory.edit { $0.write("theirs", "text") }
        try device.write("small", "text")
        clock.advance(.seconds(100))
        guard case .unresolved([], let errors, 0) = await device.sync() else {
            Issue.record("sync did not say what fails")
            return
        }
        #expect(errors.map(\.path) == ["large"] && errors.first?.message.contains("504") == true)
        #expect(try device.tree.status(at: "theirs") != nil && memory.contents(at: "small") != nil)
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "large") != nil)
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

    @Test("Nor do many of them")
    func manyNeverSent() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        for number in 0..<10 {
            let path = RelativePath.root.appending(FileName(unchecked: Array("large \(number)".utf8)))
            faulty.inject(Fault(.put, .failBefore(timeout), path: path, times: nil))
            try device.write(path, "text")
        }
        let engine = try #require(device.service.engines.first)
        func rounds() async {
            for _ in 0..<20 {
                clock.advance(.seconds(10))
                _ = await engine.round(isUrgent: false, pulls: true)
            }
        }
        await rounds()
        memory.edit { $0.write("theirs", "text") }
        for number in 0..<5 {
            try device.write(RelativePath.root.appending(FileName(unchecked: [UInt8(0x61 + number)])), "text")
        }
        await rounds()
        #expect(try device.tree.status(at: "theirs") != nil)
        for number in 0..<5 {
            #expect(
                memory.contents(at: RelativePath.root.appending(FileName(unchecked: [UInt8(0x61 + number)]))) != nil)
        }
        guard case .unresolved([], let errors, 0) = await device.sync() else {
            Issue.record("sync did not say what fails")
            return
        }
        #expect(errors.count == 10)
    }

    private func paths(_ prefix: String, _ count: Int) -> [RelativePath] {
        (0..<count).map { RelativePath.root.appending(FileName(unchecked: Array("\(prefix) \($0)".utf8))) }
    }

    @Test("Moves that never happen, as if the provider were away, hold up nothing else")
    func neverMoved() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        for path in paths("large", 6) + ["gone", "sound"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        for path in paths("large", 6) { faulty.inject(Fault(.move, .failBefore(timeout), path: path, times: nil)) }
        for (path, target) in zip(paths("large", 6), paths("moved", 6)) { try device.rename(path, target) }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<10 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        try device.write("edit", "text")
        try device.remove("gone")
        try device.makeDirectory("directory")
        try device.write("directory/new", "text")
        try device.rename("sound", "moved")
        for _ in 0..<3 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        let others: [RelativePath] = ["edit", "directory", "directory/new", "moved"]
        #expect(Set(memory.items.map(\.path)) == Set(paths("large", 6) + others))
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(Set(memory.items.map(\.path)) == Set(paths("moved", 6) + others))
    }

    @Test("Deletions that never happen, as if the provider were away, hold up no other, in whatever depth")
    func neverDeleted() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.makeDirectory("deep")
        let never = paths("never", 12).compactMap(\.name).map { RelativePath("deep").appending($0) }
        for path in never + ["gone"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        for path in never { faulty.inject(Fault(.delete, .failBefore(timeout), path: path, times: nil)) }
        for path in never { try device.remove(path) }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<10 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        try device.remove("gone")
        for _ in 0..<3 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        #expect(memory.contents(at: "gone") == nil && memory.items.count == 13)
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(memory.items.map(\.path) == ["deep"])
    }

    @Test("What the provider does not say of whether it is gone keeps nothing from coming")
    func neverTold() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        let gone = paths("gone", 6)
        for path in gone + ["theirs"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        memory.edit { tree in
            for path in gone { tree.remove(path) }
            tree.write("theirs", "other text")
        }
        for path in gone { faulty.inject(Fault(.item, .failBefore(timeout), path: path, times: nil)) }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<3 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        #expect(try device.text("theirs") == "other text")
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(try Array(device.listing().keys) == ["theirs"])
    }

    @Test("Many that never come, as if the provider were away, are tried a few at a time, and hold up nothing")
    func manyNeverFetched() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        let many = paths("theirs", 40)
        for path in many { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        memory.edit { tree in for path in many { tree.write(path, "theirs") } }
        for path in many { faulty.inject(Fault(.fetch, .failBefore(timeout), path: path, times: nil)) }
        let engine = try #require(device.service.engines.first)
        for number in 0..<5 {
            clock.advance(.seconds(100))
            let before = faulty.count(.fetch)
            try device.write(paths("mine", 5)[number], "text")
            _ = await engine.round(isUrgent: false, pulls: true)
            #expect(faulty.count(.fetch) - before <= 8, "\(number)")
        }
        clock.advance(.seconds(100))
        _ = await engine.round(isUrgent: false, pulls: false)
        for path in paths("mine", 5) { #expect(memory.contents(at: path) != nil, "\(path)") }
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        for path in many { #expect(try device.text(path) == "theirs") }
    }

    @Test("A provider that is there and takes nothing is left alone after a few")
    func busy() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        for number in 0..<40 {
            try device.write(RelativePath.root.appending(FileName(unchecked: Array("doc \(number)".utf8))), "text")
        }
        faulty.inject(Fault(.put, .failBefore(timeout), times: nil))
        let engine = try #require(device.service.engines.first)
        for _ in 0..<5 {
            clock.advance(.seconds(100))
            let before = faulty.count(.put)
            _ = await engine.round(isUrgent: false, pulls: true)
            #expect(faulty.count(.put) - before <= 8)
        }
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
    }

    @Test("A document that never comes after a start, as if the provider were away, holds up nothing else")
    func neverFetched() async throws {
        memory.edit { $0.write("doc", "first") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try await device.open("doc") == "first")
        memory.edit { $0.write("doc", "second") }
        faulty.inject(Fault(.fetch, .failBefore(timeout), path: "doc", times: nil))
        try device.write("mine", "text")
        let service = device.restartedService(faulty)
        _ = await service.syncNow(timeout: nil)
        clock.advance(.seconds(100))
        guard case .unresolved([], let errors, 0) = await service.syncNow(timeout: nil) else {
            Issue.record("sync did not say what fails")
            return
        }
        #expect(errors.map(\.path) == ["doc"] && memory.contents(at: "mine") != nil)
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(try device.text("doc") == "second")
    }
}
