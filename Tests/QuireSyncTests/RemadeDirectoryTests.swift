import QuireCore
import QuireProviders
import QuireStore
import Testing

@testable import QuireSync

/// A path stands for one directory after the other; what is said of one holds for no other.
@Suite(.timeLimit(.minutes(2))) struct RemadeDirectoryTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    private func devices() throws -> (Device, Device) {
        (try Device("one", provider: provider, clock: clock), try Device("two", provider: provider, clock: clock))
    }

    private func remotePaths() -> [RelativePath] { provider.items.map(\.path) }

    @Test("A directory made anew after its deletion's answer was lost is uploaded again, not removed")
    func lostDeletion() async throws {
        let faulty = FaultyProvider(provider)
        let one = try Device("one", provider: faulty, clock: clock)
        try one.makeDirectory("d")
        try one.write("d/a", "text")
        #expect(await one.sync() == .settled)
        try one.remove("d")
        faulty.inject(Fault(.delete, .failAfter(ProviderError(.failed, "the answer got lost")), path: "d"))
        clock.advance(.seconds(20))
        for engine in one.service.engines { _ = await engine.round(isUrgent: true, pulls: false) }
        #expect(remotePaths() == [])
        try one.makeDirectory("d")
        #expect(await one.sync() == .settled)
        #expect(try one.tree.status(at: "d")?.kind == .directory)
        #expect(remotePaths() == ["d"])
    }

    @Test("A directory made anew here is what another device's deletion did not mean")
    func deletedElsewhere() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        await one.sync()
        await two.sync()
        try two.remove("d")
        #expect(await two.sync() == .settled)
        try one.remove("d")
        try one.makeDirectory("d")
        for _ in 0..<2 {
            #expect(await one.sync() == .settled)
            #expect(await two.sync() == .settled)
        }
        #expect(Set(try one.listing().keys) == ["d"])
        #expect(try one.listing() == two.listing())
    }

    @Test(
        "A directory made anew, and still the provider's, is confirmed without a transfer, and can be deleted elsewhere"
    )
    func confirmed() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        await one.sync()
        await two.sync()
        try one.remove("d")
        try one.makeDirectory("d")
        provider.clearOperations()
        #expect(await one.sync() == .settled)
        #expect(provider.operations.allSatisfy { $0 == .changes || $0 == .item("d") })
        try two.remove("d")
        #expect(await two.sync() == .settled)
        #expect(await one.sync() == .settled)
        #expect(try one.listing().isEmpty)
    }

    @Test("The deletion of a directory does not meet the one that another device has put in its place")
    func replacedElsewhere() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        await one.sync()
        await two.sync()
        try one.remove("d")
        #expect(await one.sync() == .settled)
        clock.advance(.seconds(20))
        try one.makeDirectory("d")
        #expect(await one.sync() == .settled)
        try two.remove("d")
        #expect(await two.sync() == .settled)
        #expect(remotePaths() == ["d"])
        #expect(try two.tree.status(at: "d")?.kind == .directory)
        #expect(await one.sync() == .settled)
        #expect(try one.tree.status(at: "d")?.kind == .directory)
    }

    @Test("A directory waits for what is in it to be removed, too, before it is taken for this device's own")
    func removedLater() async throws {
        let faulty = FaultyProvider(provider)
        let (one, two) = (
            try Device("one", provider: provider, clock: clock), try Device("two", provider: faulty, clock: clock)
        )
        try one.makeDirectory("d")
        try one.makeDirectory("d/e")
        try one.write("d/e/a", "text")
        await one.sync()
        await two.sync()
        try one.remove("d")
        #expect(await one.sync() == .settled)
        faulty.inject(Fault(.item, .failBefore(ProviderError(.failed, "cannot say")), path: "d/e/a"))
        for engine in two.service.engines { _ = await engine.round(isUrgent: true, pulls: true) }
        #expect(try two.tree.status(at: "d/e/a") != nil)
        clock.advance(.seconds(100))
        #expect(await two.sync() == .settled)
        #expect(try two.listing().isEmpty)
        #expect(remotePaths() == [])
        #expect(provider.operations.allSatisfy { $0 != .createDirectory("d/e") || $0 != .createDirectory("d") })
    }

    @Test("What a pull has moved out of the way is brought to its place, and not sent under that name")
    func transit() async throws {
        let (one, two) = try devices()
        try one.makeDirectory("d")
        try one.write("d/a", "text")
        await one.sync()
        await two.sync()
        let name = RelativePath([TransitName.make()])
        try two.rename("d", name)
        for engine in two.service.engines { _ = await engine.round(isUrgent: true, pulls: false) }
        #expect(Set(remotePaths()) == ["d", "d/a"])
        #expect(await two.sync() == .settled)
        #expect(try one.listing() == two.listing())
    }
}
