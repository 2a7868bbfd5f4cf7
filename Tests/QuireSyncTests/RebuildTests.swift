import Glibc
import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// A drive goes on when its index was damaged: with the provider as it was, and nothing deleted anywhere.
@Suite(.timeLimit(.minutes(1))) struct RebuildTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// Overwrites the open index, and changes something.
    private func damage(_ device: Device) async throws -> IndexRebuild {
        let metadata = device.metadata
        try await metadata.settle()
        // What readers have kept is of an earlier state then.
        try await metadata.setValue("test", "1")
        for path in [device.home.indexPath, device.home.indexPath + "-wal"] {
            let file = open(path, O_RDWR)
            guard file >= 0 else { continue }
            defer { close(file) }
            let noise = [UInt8](repeating: 0xA5, count: Int(lseek(file, 0, SEEK_END)))
            #expect(pwrite(file, noise, noise.count, 0) == noise.count)
        }
        // Whoever reads notices.
        await #expect(throws: IndexError.self) { try await metadata.counts() }
        for await rebuild in metadata.rebuilds { return rebuild }
        throw CancellationError()
    }

    /// As the daemon does.
    private func follow(_ rebuild: IndexRebuild, _ device: Device) async throws {
        await device.service.hold { Issue.record("nothing is under way: \($0)") }
        device.metadata.takeBases(after: rebuild)
        _ = await device.metadata.rescanFinished()
        try await device.service.beginAnew()
    }

    private func expectUnchanged(_ faulty: FaultyProvider, _ device: Device, _ names: [RelativePath]) async throws {
        #expect(await device.sync() == .settled)
        #expect(faulty.count(.delete) == 0)
        for name in names { #expect(memory.contents(at: name) != nil, "\(name)") }
        #expect(try await device.metadata.conflictCopies() == [])
        #expect(try await device.metadata.pendingTotals(container: .default).deletions == 0)
    }

    @Test("What is the same on both sides stays so: nothing is deleted, sent twice under another name, or in conflict")
    func same() async throws {
        memory.edit { $0.write("theirs", "content") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.makeDirectory("d")
        try device.write("d/mine", "text")
        #expect(await device.sync() == .settled)
        try await follow(try await damage(device), device)
        try await expectUnchanged(faulty, device, ["theirs", "d/mine"])
        #expect(try await device.open("theirs") == "content")
        memory.edit { $0.write("d/later", "text") }
        try device.write("d/mine", "edited")
        #expect(await device.sync() == .settled)
        #expect(try device.tree.status(at: "d/later") != nil)
        #expect(memory.contents(at: "d/mine") == Array("edited".utf8))
    }

    @Test("An upload that was under way is no deletion when its answer comes")
    func underWay() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("first", "text")
        #expect(await device.sync() == .settled)
        try device.write("mine", "text")
        let gate = Gate()
        faulty.inject(Fault(.put, .hold(gate)))
        let service = device.service
        let syncing = Task { await service.syncNow(timeout: nil) }
        await gate.waitForArrivals(1)
        let rebuild = try await damage(device)
        gate.open()
        try await follow(rebuild, device)
        #expect(await syncing.value == .settled)
        try await expectUnchanged(faulty, device, ["first", "mine"])
    }

    @Test("A pause goes on, and is known to the next daemon")
    func paused() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        try await device.service.pause(until: .never)
        try await follow(try await damage(device), device)
        #expect(device.service.pauseEnd == .never)
        let next = device.restartedService(faulty)
        await next.restorePause()
        #expect(next.pauseEnd == .never)
    }
}
