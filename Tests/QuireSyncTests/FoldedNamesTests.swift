import QuireCore
import QuireProviders
@testable import QuireSync
import Testing

/// Names that a provider takes for the same.
@Suite(.timeLimit(.minutes(2))) struct FoldedNamesTests {
    let clock = TestClock()
    let provider: MemoryProvider = {
        var capabilities = MemoryProvider.full
        capabilities.folding = [.letterCase, .normalization]
        return MemoryProvider(capabilities: capabilities)
    }()

    private func device(_ name: String) throws -> Device { try Device(name, provider: provider, clock: clock) }

    /// What is told of what failed.
    private func errors(_ result: SyncResult) -> [String] {
        guard case .unresolved(_, let errors, _) = result else { return [] }
        return errors.map(\.message)
    }

    @Test(
        "Of two names that are one place there the second stays here, says why, and goes up under another name",
        arguments: [("README", "Readme"), ("\u{E9}t\u{E9}", "e\u{301}te\u{301}")])
    func twoNames(_ first: String, _ second: String) async throws {
        let (one, two) = (try device("one"), try device("two"))
        let taken = RelativePath([try #require(FileName(first))])
        let clashing = RelativePath([try #require(FileName(second))])
        try one.write(taken, "first")
        #expect(await one.sync() == .settled)
        try one.write(clashing, "second")
        let told = errors(await one.sync())
        #expect(told.count == 1)
        #expect(told.allSatisfy { $0.contains(second) && $0.contains(first) && $0.contains("rename") }, "\(told)")
        #expect(provider.items.map(\.path) == [taken])
        await two.sync()
        #expect(try await two.open(taken) == "first")
        #expect(try one.text(taken) == "first" && one.text(clashing) == "second")

        try one.rename(clashing, "other")
        clock.advance(.seconds(60))
        #expect(await one.sync() == .settled)
        #expect(await two.sync() == .settled)
        #expect(try await two.open("other") == "second")
        #expect(try one.listing() == two.listing())
    }

    @Test("The second goes up once the first has gone")
    func freed() async throws {
        let one = try device("one")
        try one.write("README", "first")
        await one.sync()
        try one.write("Readme", "second")
        #expect(errors(await one.sync()).count == 1)
        try one.remove("README")
        clock.advance(.seconds(60))
        _ = await one.sync()
        clock.advance(.seconds(60))
        #expect(await one.sync() == .settled)
        #expect(provider.items.map(\.path) == ["Readme"])
        #expect(provider.contents(at: "Readme") == Array("second".utf8))
    }

    @Test("Two devices that make such names at the same time keep both documents")
    func twoDevices() async throws {
        let (one, two) = (try device("one"), try device("two"))
        await one.sync()
        await two.sync()
        try one.write("README", "of one")
        try two.write("Readme", "of two")
        #expect(await one.sync() == .settled)
        #expect(errors(await two.sync()).count == 1)
        #expect(try await two.open("README") == "of one")
        #expect(try two.text("Readme") == "of two")
        #expect(await one.sync() == .settled)
        #expect(try one.text("README") == "of one")
        #expect(provider.items.map(\.path) == ["README"])
    }

    @Test("A new directory is not taken for one of the same name, and what is in it waits with it")
    func directories() async throws {
        let one = try device("one")
        try one.makeDirectory("Docs")
        try one.write("Docs/a", "first")
        await one.sync()
        try one.makeDirectory("docs")
        try one.write("docs/a", "second")
        #expect(!errors(await one.sync()).isEmpty)
        #expect(provider.items.map(\.path) == ["Docs", "Docs/a"])
        #expect(provider.contents(at: "Docs/a") == Array("first".utf8))
        #expect(try one.text("docs/a") == "second")
    }

    @Test("A new name that is the same place is a move there, too, for documents and directories")
    func otherCase() async throws {
        let (one, two) = (try device("one"), try device("two"))
        try one.makeDirectory("docs")
        try one.write("docs/readme", "text")
        await one.sync()
        await two.sync()
        #expect(try await two.open("docs/readme") == "text")
        try one.rename("docs/readme", "docs/README")
        #expect(await one.sync() == .settled)
        try one.rename("docs", "Docs")
        #expect(await one.sync() == .settled)
        #expect(provider.items.map(\.path) == ["Docs", "Docs/README"])
        #expect(await two.sync() == .settled)
        #expect(try two.text("Docs/README") == "text")
        #expect(try one.listing() == two.listing())
    }

    @Test("A move into a place that another name has stays here")
    func movedThere() async throws {
        let one = try device("one")
        try one.write("README", "first")
        try one.write("other", "second")
        await one.sync()
        try one.rename("other", "readme")
        #expect(errors(await one.sync()).count == 1)
        #expect(Set(provider.items.map(\.path)) == ["README", "other"])
        #expect(provider.contents(at: "README") == Array("first".utf8))
    }

    @Test("Names are compared as the provider does, and no further")
    func folded() {
        func same(_ one: String, _ other: String, _ folding: NameFolding) -> Bool {
            guard let first = FileName(one), let second = FileName(other) else { return false }
            return FoldedName(first, folding) == FoldedName(second, folding)
        }
        #expect(same("README", "readme", .letterCase) && !same("README", "readme", .normalization))
        #expect(same("\u{C9}", "\u{E9}", .letterCase) && !same("\u{E9}", "e\u{301}", .letterCase))
        #expect(same("\u{E9}", "e\u{301}", .normalization) && !same("\u{C9}", "e\u{301}", .normalization))
        #expect(same("\u{C9}", "e\u{301}", [.letterCase, .normalization]))
        #expect(!same("a", "b", [.letterCase, .normalization]) && !same("A", "a", []))
        let odd = FileName(unchecked: [0x41, 0xFF])
        #expect(FoldedName(odd, .letterCase) != FoldedName(FileName(unchecked: [0x61, 0xFF]), .letterCase))
    }
}
