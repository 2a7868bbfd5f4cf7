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
            guard case .announce(let paths) = operation else { return nil }
            return Set(paths ?? ["*"])
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
}
