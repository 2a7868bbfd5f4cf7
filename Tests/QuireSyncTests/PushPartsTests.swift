import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Pushes whose changes do not fit in one part.
@Suite(.timeLimit(.minutes(2))) struct PushPartsTests {
    let clock = TestClock()
    let provider = MemoryProvider()

    private func at(_ text: String) -> RelativePath { RelativePath(stringLiteral: text) }

    private func device(pushPart: Int, provider: (any DocumentProvider)? = nil) throws -> Device {
        // The clock goes on while a machine is slow: what is to wait waits for a day.
        try Device(
            "one", provider: provider ?? self.provider, clock: clock, pushPart: pushPart,
            openFileQuietTime: .seconds(86_400))
    }

    private func expectEqual(_ device: Device, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(
            Set(provider.items.map(\.path)) == Set(try device.listing().keys), sourceLocation: sourceLocation)
    }

    @Test("Thousands of new documents go up in small parts, though their directories changed after them")
    func parentsLater() async throws {
        let one = try device(pushPart: 50)
        for directory in 0..<20 {
            try one.makeDirectory(at("dir\(directory)"))
            for number in 0..<100 { try one.write(at("dir\(directory)/\(number)"), "x") }
        }
        try await one.index.settle()
        clock.advance(.seconds(1))
        for directory in 0..<20 { try one.chmod(at("dir\(directory)"), 0o700) }
        #expect(await one.sync() == .settled)
        try expectEqual(one)
        let directories = provider.operations.count { if case .createDirectory = $0 { true } else { false } }
        #expect(directories == 20)
    }

    @Test("A round of one change a part sends what is due in one round")
    func oneRound() async throws {
        let one = try device(pushPart: 1)
        for number in 0..<30 { try one.write(at("\(number)"), "x") }
        try await one.index.settle()
        // Changes go when they have settled.
        clock.advance(.seconds(1))
        let engine = try #require(one.service.engines.first)
        let push = await engine.round(isUrgent: true, pulls: false).push
        #expect(push.sent == 30, "\(push)")
    }

    @Test("Directories change names in a ring, each in a part of its own, and nothing is uploaded again")
    func ring() async throws {
        let one = try device(pushPart: 1)
        for name in ["a", "b", "c"] {
            try one.makeDirectory(at(name))
            try one.write(at("\(name)/\(name)"), name)
        }
        #expect(await one.sync() == .settled)
        provider.clearOperations()
        for (from, to) in [("a", "t"), ("b", "a"), ("c", "b"), ("t", "c")] as [(RelativePath, RelativePath)] {
            clock.advance(.seconds(1))
            try one.rename(from, to)
        }
        try one.write("a/b", "changed")
        #expect(await one.sync() == .settled)
        try expectEqual(one)
        #expect(provider.contents(at: "a/b") == Array("changed".utf8))
        #expect(provider.contents(at: "c/a") == Array("a".utf8))
        #expect(provider.operations.count { if case .put = $0 { true } else { false } } == 1)
    }

    @Test("A directory takes the place of one that was deleted with much in it")
    func replacedDirectory() async throws {
        let one = try device(pushPart: 2)
        try one.makeDirectory("old")
        try one.makeDirectory("old/sub")
        for number in 0..<30 { try one.write(at("old/sub/\(number)"), "x") }
        try one.makeDirectory("new")
        try one.write("new/doc", "x")
        #expect(await one.sync() == .settled)
        try one.remove("old")
        try one.rename("new", "old")
        #expect(await one.sync() == .settled)
        try expectEqual(one)
        #expect(provider.items.map(\.path) == ["old", "old/doc"])
    }

    @Test(
        "What programs have open, and what fails, keeps nothing waiting that comes after it",
        arguments: [ProviderError.Code.failed, .noSpace])
    func noStarvation(code: ProviderError.Code) async throws {
        let faulty = FaultyProvider(provider)
        let one = try device(pushPart: 4, provider: faulty)
        for number in 0..<20 {
            try one.write(at("open\(number)"), "x")
            one.openForWriting.insert(try one.tree.requiredStatus(at: at("open\(number)")).inode)
            // Larger than what comes after it: for as much there is no room either.
            try one.write(at("bad\(number)"), "larger")
            faulty.inject(
                Fault(.put, .failBefore(ProviderError(code, "no")), path: at("bad\(number)"), times: nil))
        }
        try await one.index.settle()
        clock.advance(.seconds(2))
        for number in 0..<5 { try one.write(at("good\(number)"), "x") }
        try await one.index.settle()
        clock.advance(.seconds(1))
        let engine = try #require(one.service.engines.first)
        let first = await engine.round(isUrgent: false, pulls: false)
        #expect((0..<5).allSatisfy { provider.contents(at: at("good\($0)")) != nil })
        #expect(first.push.sent == 5)
        #expect(first.push.failed == 20)
        #expect(first.push.waiting == 20)
        #expect(first.push.nextDue != nil)
        try one.write("later", "x")
        try await one.index.settle()
        clock.advance(.seconds(1))
        let second = await engine.round(isUrgent: false, pulls: false)
        #expect(second.push.sent == 1)
        #expect(second.push.waiting == 20)
        #expect(!second.isQuiet)
    }

    @Test("What failed stays told, though the part that was read last does not hold it")
    func parkedStays() async throws {
        let faulty = FaultyProvider(provider)
        let one = try device(pushPart: 1, provider: faulty)
        for number in 0..<5 {
            try one.write(at("bad\(number)"), "x")
            faulty.inject(
                Fault(.put, .failBefore(ProviderError(.invalidName, "no")), path: at("bad\(number)"), times: nil))
        }
        try one.write("good", "x")
        guard case .unresolved(_, let errors, 0) = await one.sync() else {
            Issue.record("nothing failed")
            return
        }
        #expect(Set(errors.map(\.path)) == ["bad0", "bad1", "bad2", "bad3", "bad4"])
        for number in 0..<5 { try one.remove(at("bad\(number)")) }
        #expect(await one.sync() == .settled)
        try expectEqual(one)
    }

    @Test("A document in a new directory that cannot be made waits with it, and is not moved elsewhere")
    func waitsForDirectory() async throws {
        let faulty = FaultyProvider(provider)
        let one = try device(pushPart: 2, provider: faulty)
        try one.write("doc", "x")
        #expect(await one.sync() == .settled)
        faulty.inject(
            Fault(.createDirectory, .failBefore(ProviderError(.noSpace, "full")), path: "dir", times: 1))
        try one.makeDirectory("dir")
        try one.rename("doc", "dir/doc")
        try one.write("dir/new", "x")
        try await one.index.settle()
        clock.advance(.seconds(2))
        let engine = try #require(one.service.engines.first)
        let report = await engine.round(isUrgent: false, pulls: false)
        #expect(report.push.failed == 1)
        #expect(provider.items.map(\.path) == ["doc"])
        #expect(await one.sync() == .settled)
        try expectEqual(one)
    }
}
