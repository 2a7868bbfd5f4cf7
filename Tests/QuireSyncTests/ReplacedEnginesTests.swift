import QuireCore
import QuireProviders
import Synchronization
import Testing

@testable import QuireSync

/// One engine at a time works for a container.
@Suite(.timeLimit(.minutes(1))) struct ReplacedEnginesTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    @Test("An engine that another took the place of does nothing any more")
    func replaced() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("a", "text")
        #expect(await device.sync() == .settled)
        let former = try #require(device.service.engines.first)
        await device.service.replaceContainers(device.service.containers) {}
        try device.write("b", "text")
        try await device.index.settle()
        clock.advance(.seconds(60))
        let calls = faulty.count(.changes)
        _ = await former.round(isUrgent: true, pulls: true)
        #expect(memory.contents(at: "b") == nil && faulty.count(.changes) == calls)
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "b") != nil)
    }

    @Test("Before containers change, what is under way ends; until they have, nothing begins; then all goes on")
    func underWay() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        try device.write("a", "text")
        let gate = Gate()
        faulty.inject(Fault(.put, .hold(gate)))
        let service = device.service
        let syncing = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        let engine = try #require(service.engines.first)
        await service.replaceContainers(service.containers) {
            let calls = faulty.count(.changes) + faulty.count(.put)
            _ = await engine.round(isUrgent: true, pulls: true)
            #expect(faulty.count(.changes) + faulty.count(.put) == calls)
        }
        #expect(await syncing.value == .settled)
        #expect(memory.contents(at: "a") != nil)
    }

    @Test("Where the change fails the engines go on, and nothing begins while the index is built anew beside it")
    func refused() async throws {
        struct Refusal: Error {}
        let device = try Device("one", provider: memory, clock: clock)
        let engine = try #require(device.service.engines.first)
        await device.service.hold()
        await #expect(throws: Refusal.self) {
            try await device.service.replaceContainers(device.service.containers) { throw Refusal() }
        }
        #expect(await engine.round(isUrgent: true, pulls: true).pull == nil)
        try await device.service.beginAnew()
        #expect(await device.sync() == .settled)
    }
}
