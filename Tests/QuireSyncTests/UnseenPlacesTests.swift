import QuireCore
import QuireProviders
import Testing

@testable import QuireSync

/// A provider that cannot tell what is in some places.
@Suite("Unseen places", .timeLimit(.minutes(1)))
struct UnseenPlacesTests {
    private let clock = TestClock()
    private let memory = MemoryProvider()

    private func sync(_ device: Device) async -> [ParkedChange] {
        clock.advance(.seconds(120))
        guard case .unresolved(_, let errors, _) = await device.sync() else { return [] }
        return errors
    }

    @Test("What is there stays as it is here, the rest is applied, and the user is told once")
    func listed() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        for directory in ["d", "d/e"] as [RelativePath] { try device.makeDirectory(directory) }
        for path in ["a", "b", "d/e/c", "d/f", "x"] as [RelativePath] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        memory.edit { tree in
            tree.write("lost+found", .directory)
            tree.write("a", "newer text")
            tree.write("d/e/c", "newer text")
            for path in ["b", "x", "d/f"] as [RelativePath] { tree.remove(path) }
        }
        feed.hide(["d/e", "x", "lost+found"])
        for _ in 0..<2 {
            let errors = await sync(device)
            #expect(Set(errors.map(\.path)) == ["d/e", "x", "lost+found"] && errors.count == 3)
            #expect(errors.allSatisfy { $0.message.contains("403") && $0.message.contains("let Quire's account") })
            #expect(errors.filter(\.isNotice).map(\.path) == ["lost+found"])
        }
        #expect(try await device.open("a") == "newer text")
        #expect(try Set(device.listing().keys) == ["a", "d", "d/e", "d/e/c", "x"])
        #expect(try device.text("d/e/c") == "text")
        // What it was, is known once it is seen.
        feed.hide([])
        clock.advance(.seconds(120))
        #expect(await device.sync() == .settled)
        #expect(try await device.open("d/e/c") == "newer text")
        #expect(try Set(device.listing().keys) == ["a", "d", "d/e", "d/e/c", "lost+found"])
    }

    @Test(
        "Where a directory above is renamed, nothing shows where it went: no deletion is believed of what is here of it"
    )
    func renamedAbove() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        for directory in ["d", "d/e"] as [RelativePath] { try device.makeDirectory(directory) }
        for path in ["a", "d/e/c"] as [RelativePath] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        feed.hide(["d/e"])
        #expect(await sync(device).map(\.path) == ["d/e"])
        memory.edit { tree in
            for path in ["d/e/c", "d/e", "d"] as [RelativePath] { tree.remove(path) }
            for path in ["new", "new/e"] as [RelativePath] { tree.write(path, .directory) }
            tree.write("new/e/c", "text")
        }
        feed.hide(["new/e"])
        for _ in 0..<2 {
            clock.advance(.seconds(120))
            _ = await device.sync()
            #expect(try device.text("d/e/c") == "text")
            #expect(await device.service.status().heldDeletions > 0)
        }
        feed.hide([])
        for _ in 0..<2 {
            clock.advance(.seconds(120))
            _ = try await device.service.confirmDeletions()
            _ = await device.sync()
        }
        #expect(try Set(device.listing().keys) == ["a", "new", "new/e", "new/e/c"])
    }

    @Test("What was never here is told, and nothing waits for it")
    func foreign() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        try device.write("a", "text")
        #expect(await device.sync() == .settled)
        memory.edit { $0.write("lost+found", .directory) }
        feed.hide(["lost+found"])
        clock.advance(.seconds(120))
        #expect(await device.sync() == .settled)
        #expect(await device.service.status().errors.map(\.path) == ["lost+found"])
        // Made here as well: now something does.
        try device.makeDirectory("lost+found")
        #expect(await sync(device).map(\.path).contains("lost+found"))
    }

    @Test("A directory is not gone while something in it is unseen, nor what is below one that was made anew")
    func told() async throws {
        let memory = MemoryProvider.announcing()
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        for directory in ["d", "d/e"] as [RelativePath] { try device.makeDirectory(directory) }
        for path in ["d/e/c", "d/f", "g"] as [RelativePath] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        let directory = try #require(memory.items.first { $0.path == "d" })
        let engine = try #require(device.service.engines.first)
        memory.edit { tree in for path in ["d/f", "g"] as [RelativePath] { tree.remove(path) } }
        feed.tell([directory, .unseen("d/e", because: "403")], removed: ["d", "g"])
        clock.advance(.seconds(120))
        _ = await engine.round(isUrgent: true, pulls: true)
        #expect(try Set(device.listing().keys) == ["d", "d/e", "d/e/c"])
        #expect(await device.service.status().errors.map(\.path) == ["d/e"])
        // Nothing new is told: it is still not seen. Once it is, it is as it is told.
        clock.advance(.seconds(120))
        _ = await engine.round(isUrgent: true, pulls: true)
        #expect(await device.service.status().errors.map(\.path) == ["d/e"])
        memory.edit { tree in for path in ["d/e/c", "d/e"] as [RelativePath] { tree.remove(path) } }
        feed.tell(removed: ["d/e"])
        clock.advance(.seconds(120))
        _ = await engine.round(isUrgent: true, pulls: true)
        #expect(try Set(device.listing().keys) == ["d"])
        #expect(await device.service.status().errors.isEmpty)
    }

    @Test("That all is gone that can be seen is believed no more than that all is")
    func allThatIsSeen() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        try device.makeDirectory("d")
        let documents = (0..<20).map { RelativePath(stringLiteral: "doc\($0)") }
        for path in documents + ["d/x"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        clock.advance(.seconds(7200))
        memory.edit { tree in for path in documents { tree.remove(path) } }
        feed.hide(["d"])
        _ = await sync(device)
        #expect(await device.service.status().heldDeletions == 20)
        #expect(try Set(device.listing().keys).isSuperset(of: documents))
    }

    @Test("What is told to be gone where nothing can be seen stays")
    func toldGone() async throws {
        let memory = MemoryProvider.announcing()
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        try device.makeDirectory("d")
        try device.write("d/x", "text")
        #expect(await device.sync() == .settled)
        feed.hide(["d"])
        _ = await sync(device)
        memory.edit { $0.remove("d/x") }
        feed.tell(removed: ["d/x"])
        let engine = try #require(device.service.engines.first)
        clock.advance(.seconds(120))
        _ = await engine.round(isUrgent: true, pulls: true)
        #expect(try device.text("d/x") == "text")
    }

    @Test("What is held stays held while it is unseen")
    func held() async throws {
        let feed = FeedProvider(memory)
        let device = try Device("one", provider: feed, clock: clock)
        for path in ["a", "b"] as [RelativePath] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        memory.edit { $0.remove("a") }
        feed.setBack()
        _ = await sync(device)
        #expect(await device.service.status().heldDeletions == 1)
        feed.hide(["a"])
        _ = await sync(device)
        feed.hide([])
        _ = await sync(device)
        #expect(await device.service.status().heldDeletions == 1)
        #expect(try device.text("a") == "text")
    }
}
