import QuireCore
@testable import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Tags of documents on two devices of a provider that keeps them, and of one that does not.
@Suite(.timeLimit(.minutes(2))) struct TagsBetweenDevicesTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    private func device(_ name: String) throws -> Device { try Device(name, provider: provider, clock: clock) }

    private func tag(_ device: Device, _ path: RelativePath, _ tags: [String]) async throws {
        try await device.index.settle()
        let item = try #require(try await device.index.item(drivePath: path))
        try await device.metadata.setTags(item.entry.id, tags)
    }

    private func tags(_ device: Device, _ path: RelativePath) async throws -> [String]? {
        try await device.metadata.settle()
        return try await device.metadata.item(at: path)?.tags
    }

    @Test("What is tagged on one device is tagged on the other: documents and directories, new ones and old ones")
    func travel() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try one.makeDirectory("d")
        try one.write("d/old", "text")
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        try one.write("d/new", "text")
        for path in ["d", "d/old", "d/new"] as [RelativePath] { try await tag(one, path, ["work", "\(path)"]) }
        #expect(await one.sync() == .settled)
        #expect(provider.contents(at: "d/old") == Array("text".utf8))
        #expect(await two.sync() == .settled)
        for path in ["d", "d/old", "d/new"] as [RelativePath] {
            #expect(try await tags(two, path) == ["work", "\(path)"])
        }
        #expect(two.metadata.mayHaveTags(inode: try two.tree.requiredStatus(at: "d/new").inode))
        try await tag(two, "d/old", [])
        #expect(await two.sync() == .settled)
        #expect(await one.sync() == .settled)
        #expect(try await tags(one, "d/old") == [])
        for device in [one, two] { #expect(try await device.pending().isEmpty) }
    }

    @Test("Tags that both devices changed are merged, and so they are while one edits or renames the document")
    func merge() async throws {
        let (one, two) = (try device("one"), try device("two"))
        for path in ["a", "b", "c"] as [RelativePath] { try one.write(path, "text") }
        #expect(await one.sync() == .settled)
        for path in ["a", "b", "c"] as [RelativePath] { try await tag(one, path, ["gone", "kept"]) }
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        _ = try await two.open("b")
        for path in ["a", "b", "c"] as [RelativePath] { try await tag(one, path, ["kept", "one"]) }
        try await tag(two, "a", ["gone", "kept", "two"])
        try two.write("b", "edited")
        try two.rename("c", "d")
        #expect(await one.sync() == .settled)
        for device in [two, one, two] { #expect(await device.sync() == .settled) }
        for device in [one, two] {
            #expect(try await tags(device, "a").map(Set.init) == ["kept", "one", "two"])
            #expect(try await tags(device, "b") == ["kept", "one"])
            #expect(try await tags(device, "d") == ["kept", "one"])
        }
        #expect(provider.contents(at: "b") == Array("edited".utf8))
        #expect(try Set(one.listing().keys) == ["a", "b", "d"])
    }

    @Test("Where devices have tags in another order, and both change them, all end with one order")
    func order() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try one.write("a", "text")
        for device in [one, two] { #expect(await device.sync() == .settled) }
        try await tag(one, "a", ["x", "y"])
        try await tag(two, "a", ["y", "z", "x"])
        for device in [one, two, one, two] { #expect(await device.sync() == .settled) }
        #expect(try await tags(one, "a") == ["x", "y", "z"])
        #expect(try await tags(two, "a") == ["x", "y", "z"])
        provider.clearOperations()
        for device in [one, two] { #expect(await device.sync() == .settled) }
        #expect(provider.operations.allSatisfy { $0 == .changes })
    }

    @Test("A document that another program has put anew, without what Quire kept beside it, has its tags here still")
    func replacedElsewhere() async throws {
        let one = try device("one")
        try one.write("a", "text")
        #expect(await one.sync() == .settled)
        try await tag(one, "a", ["kept"])
        #expect(await one.sync() == .settled)
        var base = try #require(try await one.index.item(drivePath: "a")?.base)
        #expect(base.tags == ["kept"])
        (base.mode, base.tags, base.version) = (nil, [], ProviderVersion("other"))
        one.index.record(.baseMoved(container: .default, from: "a", base))
        #expect(try await tags(one, "a") == ["kept"])
        #expect(try await one.index.item(drivePath: "a")?.base?.tags == ["kept"])
        #expect(try await one.pending().isEmpty)
    }

    @Test("Tags that were given before the provider's were known are added to those")
    func firstTold() async throws {
        let one = try device("one")
        try one.write("a", "text")
        #expect(await one.sync() == .settled)
        // As an earlier version of Quire recorded it.
        try await one.metadata.write("forgetting tags") { try $0.run("UPDATE bases SET tags = NULL") }
        try await tag(one, "a", ["here"])
        #expect(try await one.pending().isEmpty)
        provider.edit { $0.setTags("a", ["there"]) }
        #expect(await one.sync() == .settled)
        #expect(try await tags(one, "a") == ["there", "here"])
        #expect(provider.items.first?.tags == ["there", "here"])
    }

    @Test("At a provider without attributes tags stay here, and nothing waits for it")
    func stayHere() async throws {
        let plain = MemoryProvider(capabilities: MemoryProvider.plain)
        let one = try Device("one", provider: plain, clock: clock)
        try one.write("a", "text")
        #expect(await one.sync() == .settled)
        try await tag(one, "a", ["here"])
        #expect(try await one.pending().isEmpty)
        #expect(await one.sync() == .settled)
        try one.write("a", "edited")
        #expect(await one.sync() == .settled)
        #expect(try await tags(one, "a") == ["here"])
    }
}
