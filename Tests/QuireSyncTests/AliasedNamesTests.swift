import QuireCore
import QuireProviders
@testable import QuireSync
import Testing

/// Names that a provider takes for another, and does not say so: `report.` where that is `report`.
@Suite(.timeLimit(.minutes(1))) struct AliasedNamesTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    /// What is told of what failed.
    private func errors(_ result: SyncResult) -> [String] {
        guard case .unresolved(_, let errors, _) = result else { return [] }
        return errors.map(\.message)
    }

    @Test("A copy whose name the provider takes for that of the document it was copied from stays here, and it is told")
    func copied() async throws {
        let device = try Device("one", provider: AliasingProvider(memory), clock: clock)
        try device.write("report", "text")
        #expect(await device.sync() == .settled)
        try device.write("report.", "text")
        let told = errors(await device.sync())
        #expect(told.count == 1 && told.allSatisfy { $0.contains("report. ") && $0.contains("rename") }, "\(told)")
        clock.advance(.seconds(7200))
        await device.sync()
        #expect(try device.text("report.") == "text")
        #expect(try device.text("report") == "text")
        #expect(memory.items.map(\.path) == ["report"])
        #expect(try await device.pending().map { $0.local?.path } == ["report."])

        try device.rename("report.", "another")
        clock.advance(.seconds(7200))
        #expect(await device.sync() == .settled)
        #expect(Set(memory.items.map(\.path)) == ["report", "another"])
    }
}
