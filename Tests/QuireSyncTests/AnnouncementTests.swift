import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// What other devices are told.
@Suite(.timeLimit(.minutes(1))) struct AnnouncementTests {
    let clock = TestClock()

    private func memory(directoryMoves: Bool = true) -> MemoryProvider {
        var capabilities = MemoryProvider.full
        capabilities.announcements = true
        capabilities.directoryMoves = directoryMoves
        return MemoryProvider(capabilities: capabilities)
    }

    /// What was told, in order; `*` for everything.
    private func told(_ memory: MemoryProvider) -> [Set<RelativePath>] {
        memory.operations.compactMap { operation in
            guard case .announce(let changes) = operation else { return nil }
            return Set(changes?.map(\.path) ?? ["*"])
        }
    }

    @Test("After a push the others are told where something was changed, once")
    func push() async throws {
        let memory = memory()
        let device = try Device("one", provider: memory, clock: clock, pushPart: 100)
        try device.makeDirectory("d")
        try device.write("d/a", "a")
        try device.write("b", "b")
        #expect(await device.sync() == .settled)
        #expect(told(memory).reduce(into: Set()) { $0.formUnion($1) } == ["d", "d/a", "b"])
        memory.clearOperations()
        #expect(await device.sync() == .settled)
        #expect(told(memory).isEmpty)
        try device.rename("b", "c")
        try device.remove("d/a")
        #expect(await device.sync() == .settled)
        #expect(told(memory).reduce(into: Set()) { $0.formUnion($1) } == ["b", "c", "d/a"])
    }

    @Test("Of a directory that was moved with all in it they are to look at everything", arguments: [true, false])
    func directory(moves: Bool) async throws {
        let memory = memory(directoryMoves: moves)
        let device = try Device("one", provider: memory, clock: clock)
        try device.makeDirectory("d")
        try device.write("d/a", "a")
        #expect(await device.sync() == .settled)
        memory.clearOperations()
        try device.rename("d", "e")
        #expect(await device.sync() == .settled)
        let all = told(memory).reduce(into: Set()) { $0.formUnion($1) }
        #expect(moves ? all == ["*"] : all.isSuperset(of: ["e", "d", "d/a", "e/a"]) && !all.contains("*"))
    }

    @Test(
        "Where listings have no attributes, those that were sent are told, also of what was moved",
        arguments: [true, false])
    func attributes(keeps: Bool) async throws {
        var capabilities = MemoryProvider.full
        (capabilities.announcements, capabilities.attributes) = (true, keeps)
        let memory = MemoryProvider(capabilities: capabilities)
        let device = try Device("one", provider: memory, clock: clock)
        func told(_ path: RelativePath) -> AnnouncedChange? {
            memory.operations.compactMap { operation -> AnnouncedChange? in
                guard case .announce(let changes?) = operation else { return nil }
                return changes.first { $0.path == path }
            }.last
        }
        try device.write("a", "text")
        let time = try device.tree.requiredStatus(at: "a").mtime
        #expect(await device.sync() == .settled)
        let there = try #require(memory.items.first { $0.path == "a" })
        let sent = AnnouncedChange("a", there.version, RemoteAttributes(mtime: time, mode: 0o644))
        #expect(told("a") == (keeps ? AnnouncedChange("a") : sent))
        try device.rename("a", "b")
        #expect(await device.sync() == .settled)
        let moved = try #require(memory.items.first { $0.path == "b" })
        #expect(told("a") == AnnouncedChange("a"))
        #expect(told("b") == (keeps ? AnnouncedChange("b") : AnnouncedChange("b", moved.version, sent.attributes)))
    }

    @Test("What could not be told is told later; what a daemon did not live to tell, the next does")
    func owed() async throws {
        let memory = memory()
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.put, .failAfter(ProviderError(.unavailable, "cut"))))
        try device.write("a", "a")
        #expect(await device.sync() != .settled)
        #expect(told(memory).isEmpty)
        let next = device.restartedService(memory)
        #expect(await next.syncNow(timeout: nil) == .settled)
        #expect(told(memory).contains(["*"]))
        memory.clearOperations()
        let third = device.restartedService(memory)
        #expect(await third.syncNow(timeout: nil) == .settled)
        #expect(told(memory).isEmpty)
    }

    @Test("While telling fails it is tried with growing pauses, however much is sent; then all of it is told")
    func failing() async throws {
        let memory = memory()
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        let engine = try #require(device.service.engines.first)
        faulty.inject(Fault(.announce, .failBefore(ProviderError(.failed, "garbage")), times: nil))
        let before = faulty.count(.announce)
        for number in 0..<50 {
            try device.write(RelativePath([FileName("\(number)") ?? "x"]), "text")
            clock.advance(.milliseconds(400))
            _ = await engine.round(isUrgent: false, pulls: false)
        }
        // In 20 seconds: after 1, 2, 4, 8, each cut to three quarters.
        let tried = faulty.count(.announce) - before
        #expect((3...6).contains(tried), "\(tried)")
        faulty.clearFaults()
        #expect(await device.sync() == .settled)
        #expect(told(memory).reduce(into: Set()) { $0.formUnion($1) }.count == 50)
    }
}
