import Glibc
import QuireCore
import QuireProviders
import QuireStore
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
        try await device.service.replaceContainers(device.service.containers) {}
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
        try await service.replaceContainers(service.containers) {
            let calls = faulty.count(.changes) + faulty.count(.put)
            _ = await engine.round(isUrgent: true, pulls: true)
            #expect(faulty.count(.changes) + faulty.count(.put) == calls)
        }
        #expect(await syncing.value == .settled)
        #expect(memory.contents(at: "a") != nil)
    }

    /// A device whose upload does not come back until the gate is opened.
    private func hangingDevice() async throws -> (Device, Gate, syncing: Task<SyncResult, Never>) {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        try device.write("a", "text")
        let (service, gate) = (device.service, Gate())
        faulty.inject(Fault(.put, .hang(gate)))
        let syncing = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        return (device, gate, syncing)
    }

    @Test("Where a call does not come back nothing changes, and all goes on when it has")
    func hanging() async throws {
        let (device, gate, syncing) = try await hangingDevice()
        let service = device.service
        let engine = try #require(service.engines.first)
        await #expect {
            try await service.replaceContainers(service.containers, patience: .milliseconds(1)) {
                Issue.record("something is under way")
            }
        } throws: {
            let error = $0 as? QuireError
            return error?.code == .temporary && error?.message.contains("a call to main") == true
        }
        gate.open()
        #expect(await syncing.value == .settled)
        #expect(memory.contents(at: "a") != nil && service.engines.first === engine)
        try await service.replaceContainers(service.containers) {}
        #expect(service.engines.first !== engine)
    }

    @Test("Who must wait for a call that does not come back is told with whom it is, and goes on when it has")
    func told() async throws {
        let (device, gate, syncing) = try await hangingDevice()
        let service = device.service
        let (words, word) = AsyncStream.makeStream(of: [String].self)
        let holding = Task {
            await service.hold(patience: .milliseconds(1)) { word.yield($0) }
            word.finish()
        }
        var told: [[String]] = []
        for await hanging in words {
            told.append(hanging)
            gate.open()
        }
        #expect(told == [["main"]])
        await holding.value
        try await service.beginAnew()
        #expect(await syncing.value == .settled)
        #expect(memory.contents(at: "a") != nil)
    }

    @Test(
        "What is taken off the device on the word of the former store is so before the change; nothing is while it is made"
    )
    func evictions() async throws {
        memory.edit {
            $0.write("one", "content")
            $0.write("two", "content")
        }
        let device = try Device("one", provider: memory, clock: clock)
        #expect(await device.sync() == .settled)
        for path in ["one", "two"] as [RelativePath] { #expect(try await device.open(path) == "content") }
        let (service, tree) = (device.service, device.tree)
        let engine = try #require(service.engines.first)
        let (changes, change) = AsyncThrowingStream.makeStream(of: Bool.self)
        device.whenCommitting.set(device) { _ in
            Task {
                do {
                    try await service.replaceContainers(service.containers) {
                        change.yield(try Placeholder.mark(at: "one", in: tree).isDataless)
                        await #expect(throws: QuireError.self) { try await service.evict("two") }
                    }
                    change.finish()
                } catch {
                    change.finish(throwing: error)
                }
            }
            while !engine.context.commits.isClosed { sched_yield() }
        }
        #expect(try await service.evict("one") == 1)
        var wasEvicted: [Bool] = []
        for try await isDataless in changes { wasEvicted.append(isDataless) }
        #expect(wasEvicted == [true])
        #expect(try device.text("two") == "content")
        #expect(try await service.evict("two") == 1)
    }

    @Test("Where the change fails the engines go on, and nothing begins while the index is built anew beside it")
    func refused() async throws {
        struct Refusal: Error {}
        let device = try Device("one", provider: memory, clock: clock)
        let engine = try #require(device.service.engines.first)
        await device.service.hold { Issue.record("nothing is under way: \($0)") }
        await #expect(throws: Refusal.self) {
            try await device.service.replaceContainers(device.service.containers) { throw Refusal() }
        }
        #expect(await engine.round(isUrgent: true, pulls: true).pull == nil)
        try await device.service.beginAnew()
        #expect(await device.sync() == .settled)
    }
}
