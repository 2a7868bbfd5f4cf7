import Glibc
import QuireCore
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// What is being sent keeps nobody waiting for longer than what is under way.
@Suite("A push gives way", .timeLimit(.minutes(1)))
struct GivingWayTests {
    private let clock = TestClock()
    private let memory = MemoryProvider()

    /// A device that sends one document at a time, with one dataless and two that are to be sent: the first is held on its way.
    private func device(
        _ deadline: Duration? = nil, held first: Gate, _ second: Gate
    ) async throws -> (device: Device, faulty: FaultyProvider) {
        memory.edit { $0.write("doc", "content") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock, parallel: 1, downloadDeadline: deadline)
        #expect(await device.sync() == .settled)
        for (path, gate) in [("first", first), ("second", second)] as [(RelativePath, Gate)] {
            try device.write(path, "text")
            clock.advance(.milliseconds(10))
            faulty.inject(Fault(.put, .hold(gate), path: path))
        }
        clock.advance(.seconds(2))
        return (device, faulty)
    }

    @Test("Who opens what was moved at the provider waits for what is under way, not for all that is to be sent")
    func opened() async throws {
        let (first, second) = (Gate(), Gate())
        let (device, faulty) = try await device(held: first, second)
        let engine = try #require(device.service.engines.first)
        let pushing = Task { await engine.round(isUrgent: true, pulls: false) }
        await first.waitForArrivals(1)
        memory.edit { $0.move("doc", to: "moved") }
        let (service, inode) = (device.service, try device.tree.requiredStatus(at: "doc").inode)
        let opening = Task { try await service.materialize(path: "doc", inode: inode) }
        // It waits for its turn.
        while !engine.hasReaders { await Task.yield() }
        first.open()
        // It is not there any more, which was found out without the second.
        await #expect(throws: MaterializeError.self) { try await opening.value }
        #expect(try device.listing().keys.contains("moved"))
        let report = await pushing.value
        #expect(report.push.sent == 1 && report.push.gaveWay && faulty.count(.put) == 1)
        second.open()
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "second") != nil)
    }

    @Test("Who opens what is not found waits no longer than a download may be silent, and is told why")
    func deadline() async throws {
        let (first, second) = (Gate(), Gate())
        let (device, _) = try await device(.milliseconds(1), held: first, second)
        let engine = try #require(device.service.engines.first)
        let pushing = Task { await engine.round(isUrgent: true, pulls: false) }
        await first.waitForArrivals(1)
        memory.edit { $0.move("doc", to: "moved") }
        await #expect {
            try await engine.pullForReader(of: "doc")
        } throws: {
            let error = $0 as? SyncFailure
            return error?.errno == ETIMEDOUT && error?.message.contains("doc") == true
                && error?.message.contains("try again") == true
        }
        first.open()
        second.open()
        _ = await pushing.value
        #expect(await device.sync() == .settled)
        #expect(try device.listing().keys.contains("moved"))
    }

    @Test("What other devices did comes, and what is new goes, while much is being sent")
    func polled() async throws {
        let (first, second) = (Gate(), Gate())
        let (device, faulty) = try await device(held: first, second)
        let engine = try #require(device.service.engines.first)
        let pushing = Task { await engine.round(isUrgent: true, pulls: false) }
        await first.waitForArrivals(1)
        memory.edit { $0.write("theirs", "content") }
        clock.advance(.seconds(60))
        first.open()
        let report = await pushing.value
        #expect(report.push.gaveWay && report.pull != nil && faulty.count(.put) == 1)
        #expect(try device.listing().keys.contains("theirs"))
        second.open()
        #expect(await device.sync() == .settled)
    }

    @Test("Listings that fail each time end no push")
    func failingListings() async throws {
        let (first, second) = (Gate(), Gate())
        let (device, faulty) = try await device(held: first, second)
        let engine = try #require(device.service.engines.first)
        faulty.inject(Fault(.changes, .failBefore(ProviderError(.failed, "an error")), times: nil))
        #expect(await engine.round(isUrgent: true, pulls: true, pushes: false).offline != nil)
        second.open()
        let pushing = Task { await engine.round(isUrgent: true, pulls: true) }
        await first.waitForArrivals(1)
        clock.advance(.seconds(60))
        first.open()
        #expect(await pushing.value.offline != nil)
        #expect(faulty.count(.put) == 2 && memory.contents(at: "second") != nil)
        faulty.clearFaults()
        #expect(await device.sync() == .settled)
    }

    @Test("Many who open what is not found wait for one pull")
    func manyReaders() async throws {
        let (first, second) = (Gate(), Gate())
        let (device, faulty) = try await device(.milliseconds(1), held: first, second)
        let engine = try #require(device.service.engines.first)
        let pushing = Task { await engine.round(isUrgent: true, pulls: false) }
        await first.waitForArrivals(1)
        let before = faulty.count(.changes)
        for _ in 0..<20 {
            await #expect(throws: SyncFailure.self) { try await engine.pullForReader(of: "doc") }
        }
        first.open()
        second.open()
        _ = await pushing.value
        // After the one that waits.
        _ = await engine.round(isUrgent: true, pulls: false)
        #expect(faulty.count(.changes) == before + 1)
    }

    @Test("What is small does not wait for what is large")
    func smallFirst() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock, parallel: 1)
        #expect(await device.sync() == .settled)
        try device.write("large", String(repeating: "x", count: 1 << 21))
        clock.advance(.milliseconds(10))
        try device.write("small", "text")
        clock.advance(.seconds(2))
        let gate = Gate()
        faulty.inject(Fault(.put, .hold(gate), path: "large"))
        let service = device.service
        let syncing = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        #expect(memory.contents(at: "small") != nil)
        gate.open()
        #expect(await syncing.value == .settled)
    }

    @Test("Checksums are counted by themselves, also after containers changed")
    func counted() async throws {
        let size = Int(ReadAhead.block) + 1
        for path in ["one", "two"] as [RelativePath] {
            memory.edit { $0.write(path, .file([UInt8](repeating: 0x61, count: size))) }
        }
        let device = try Device("one", provider: FaultyProvider(memory), clock: clock)
        #expect(await device.sync() == .settled)
        let service = device.service
        let running = Task { await service.run() }
        for path in ["one", "two"] as [RelativePath] {
            _ = try await device.open(path)
            while try await device.index.item(drivePath: path)?.base?.checksum == nil {
                try await Task.sleep(for: .milliseconds(10))
            }
            try await service.replaceContainers(service.containers) {}
        }
        running.cancel()
        await running.value
    }
}
