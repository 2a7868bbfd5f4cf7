import QuireCore
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// New versions that cannot come here yet.
@Suite(.timeLimit(.minutes(1))) struct WaitingPullTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// A device with a document that a program has open for writing, of which the provider has a new version.
    private func device() async throws -> (Device, FaultyProvider, SyncEngine) {
        memory.edit { $0.write("doc", "first") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try await device.open("doc") == "first")
        device.openForWriting.insert(try device.tree.requiredStatus(at: "doc").inode)
        memory.edit { $0.write("doc", "second") }
        return (device, faulty, try #require(device.service.engines.first))
    }

    @Test("A new version of what a program has open is fetched when it is closed; until then sync says that it waits")
    func open() async throws {
        let (device, faulty, engine) = try await device()
        let fetched = faulty.count(.fetch)
        var report = RoundReport()
        for _ in 0..<60 where report.parked == 0 {
            report = await engine.round(isUrgent: true, pulls: true)
            clock.advance(.milliseconds(500))
        }
        try #require(report.parked == 1)
        #expect(faulty.count(.fetch) == fetched)
        guard case .unresolved([], let errors, 0) = await device.sync() else {
            Issue.record("sync did not say what it waits for")
            return
        }
        #expect(errors.map(\.path) == ["doc"] && errors.first?.message.contains("in use") == true)
        device.openForWriting.removeAll()
        #expect(await device.sync() == .settled)
        #expect(try device.text("doc") == "second")
        #expect(faulty.count(.fetch) == fetched + 1)
    }

    @Test("The longer it is open, the more rarely the provider is listed")
    func pauses() async throws {
        let (device, _, engine) = try await device()
        var pauses: [Duration] = []
        for _ in 0..<8 { pauses.append(engine.pause(after: await engine.round(isUrgent: false, pulls: true))) }
        #expect(try device.text("doc") == "first")
        #expect(pauses.first == .milliseconds(500) && pauses == pauses.sorted())
        #expect(pauses.last.map { $0 >= .seconds(4) } == true, "\(pauses)")
    }
}
