import Glibc
import QuireCore
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// Programs that write to the store without the driver: those that go on from before this daemon.
@Suite("Writers that the driver does not know of", .timeLimit(.minutes(1)))
struct UnseenWritersTests {
    private let clock = TestClock()
    private let memory = MemoryProvider()

    @Test("While one has the document open, no newer version is fetched in vain; then it comes")
    func open() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.write("a", "one")
        #expect(await device.sync() == .settled)
        let file = Glibc.open("\(device.home.storePath)/a", O_RDWR)
        memory.edit { $0.write("a", "two") }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<5 {
            clock.advance(.seconds(120))
            let report = await engine.round(isUrgent: true, pulls: true)
            #expect(report.pull?.left == 1)
        }
        #expect(faulty.count(.fetch) == 0)
        close(file)
        clock.advance(.seconds(120))
        #expect(await device.sync() == .settled)
        #expect(try device.text("a") == "two")
    }

    @Test("What one has written is found when a newer version comes, and both are kept")
    func written() async throws {
        let device = try Device("one", provider: memory, clock: clock)
        try device.write("a", "one")
        #expect(await device.sync() == .settled)
        try device.writeUnseen("a", "of the program")
        memory.edit { $0.write("a", "of another device") }
        clock.advance(.seconds(120))
        guard case .unresolved(let conflicts, let errors, 0) = await device.sync() else {
            Issue.record("no conflict")
            return
        }
        #expect(conflicts.count == 1 && errors.isEmpty)
        let texts = memory.items.compactMap { memory.contents(at: $0.path).map { String(decoding: $0, as: UTF8.self) } }
        #expect(Set(texts) == ["of the program", "of another device"])
    }
}
