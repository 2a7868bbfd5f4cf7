import QuireCore
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

@Suite(.timeLimit(.minutes(1))) struct PauseTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    @Test("Paused, nothing goes up and nothing is asked for; what is opened comes; resumed, everything goes on")
    func paused() async throws {
        memory.edit { $0.write("theirs", "content") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        try await device.service.pause(until: .never)
        try device.write("mine", "text")
        memory.edit { $0.write("later", "text") }
        let listed = faulty.count(.changes)
        #expect(await device.sync() == .paused(until: .never, pending: 1))
        #expect(memory.contents(at: "mine") == nil)
        #expect(faulty.count(.changes) == listed)
        #expect(try await device.open("theirs") == "content")
        #expect(await device.service.status().pauseEnd == .never)
        try await device.service.resume()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "mine") != nil)
        #expect(try device.tree.status(at: "later") != nil)
    }

    @Test("A pause ends with its time, and outlives the daemon until then")
    func timed() async throws {
        let device = try Device("one", provider: memory, clock: clock)
        let end = PauseEnd.at(FileTime(nanoseconds: clock.now.nanoseconds + 3_600_000_000_000))
        try await device.service.pause(until: end)
        try await device.service.resume()
        #expect(device.service.pauseEnd == nil)
        try await device.service.pause(until: end)
        let next = SyncService(environment: device.service.environment, containers: [])
        #expect(next.pauseEnd == nil)
        await next.restorePause()
        #expect(next.pauseEnd == end)
        clock.advance(.seconds(3601))
        #expect(device.service.pauseEnd == nil)
        try device.write("mine", "text")
        #expect(await device.sync() == .settled)
    }

    @Test("An upload under way when the pause begins is broken off, and made afterwards")
    func brokenOff() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        try device.write("mine", "text")
        let gate = Gate()
        faulty.inject(Fault(.put, .hold(gate)))
        let service = device.service
        let syncing = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        try await service.pause(until: .never)
        // Only the pause lets it go: opened, the gate could be faster.
        #expect(await syncing.value == .paused(until: .never, pending: 1))
        gate.open()
        try await service.resume()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "mine") != nil)
    }
}
