import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// A provider that was set back to an earlier time, as from a backup.
@Suite("A provider that was set back", .timeLimit(.minutes(1)))
struct SetBackTests {
    private let clock = TestClock()
    private let memory = MemoryProvider()

    @Test(
        "What came after that time stays here until its deletion is confirmed, and versions of what is replaced are kept"
    )
    func restored() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        let new: [RelativePath] = ["new 1", "new 2", "new 3"]
        for path in new + ["old", "edited"] { try device.write(path, "text of today") }
        #expect(await device.sync() == .settled)
        // After an hour nothing is remembered as sent a while ago.
        clock.advance(.seconds(7200))
        memory.edit { tree in
            for path in new { tree.remove(path) }
            tree.write("edited", "text of yesterday")
        }
        feed.setBack()
        let engine = try #require(device.service.engines.first)
        for _ in 0..<3 {
            clock.advance(.seconds(120))
            _ = await engine.round(isUrgent: true, pulls: true)
        }
        #expect(await device.service.status().heldDeletions == 3)
        for path in new { #expect(try device.text(path) == "text of today") }
        #expect(try await device.open("edited") == "text of yesterday")
        let kept = device.home.keptVersions
        #expect(try kept.items().flatMap { try kept.list($0) }.map(\.status.size) == [13])
        #expect(try await device.service.confirmDeletions() == 3)
        clock.advance(.seconds(120))
        #expect(await device.sync() == .settled)
        #expect(try Set(device.listing().keys) == ["old", "edited"])
    }

    @Test("Of what is edited after such a listing no version is kept")
    func afterwards() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        for path in ["a", "b"] as [RelativePath] { try device.write(path, "text of today") }
        #expect(await device.sync() == .settled)
        clock.advance(.seconds(7200))
        memory.edit { $0.write("a", "text of yesterday") }
        feed.setBack()
        #expect(await device.sync() == .settled)
        #expect(try device.kept() == ["text of today"])
        memory.edit { $0.write("b", "text of tomorrow") }
        feed.tell(memory.items.filter { $0.path == "b" })
        let engine = try #require(device.service.engines.first)
        #expect(await engine.round(isUrgent: true, pulls: true).pull?.applied == 1)
        #expect(try await device.open("b") == "text of tomorrow" && device.kept() == ["text of today"])
    }

    @Test("What is deleted at a provider that was not set back goes at once")
    func ordinary() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        for path in ["a", "b"] as [RelativePath] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        clock.advance(.seconds(7200))
        memory.edit { $0.remove("a") }
        feed.expectListing()
        #expect(await device.sync() == .settled)
        #expect(try Array(device.listing().keys) == ["b"])
    }
}
