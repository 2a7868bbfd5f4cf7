import QuireCore
import QuireIndex
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Documents that fail again and again as if the provider were away, which it is not.
@Suite(.timeLimit(.minutes(1))) struct SuspectDocumentsTests {
    let clock = TestClock()
    let memory = MemoryProvider()
    private let timeout = ProviderError(.unavailable, "504 Gateway Timeout")

    @Test("A document that never goes up, as if the provider were away, holds up nothing else")
    func neverSent() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        faulty.inject(Fault(.put, .failBefore(timeout), path: "large", times: nil))
        try device.write("large", "text")
        _ = await device.sync()
        memory.edit { $0.write("theirs", "text") }
        try device.write("small", "text")
        clock.advance(.seconds(100))
        guard case .unresolved([], let errors, 0) = await device.sync() else {
            Issue.record("sync did not say what fails")
            return
        }
        #expect(errors.map(\.path) == ["large"] && errors.first?.message.contains("504") == true)
        #expect(try device.tree.status(at: "theirs") != nil && memory.contents(at: "small") != nil)
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "large") != nil)
    }

    @Test("Nor do many of them")
    func manyNeverSent() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        for number in 0..<10 {
            let path = RelativePath.root.appending(FileName(unchecked: Array("large \(number)".utf8)))
            faulty.inject(Fault(.put, .failBefore(timeout), path: path, times: nil))
            try device.write(path, "text")
        }
        let engine = try #require(device.service.engines.first)
        func rounds() async {
            for _ in 0..<20 {
                clock.advance(.seconds(10))
                _ = await engine.round(isUrgent: false, pulls: true)
            }
        }
        await rounds()
        memory.edit { $0.write("theirs", "text") }
        for number in 0..<5 {
            try device.write(RelativePath.root.appending(FileName(unchecked: [UInt8(0x61 + number)])), "text")
        }
        await rounds()
        #expect(try device.tree.status(at: "theirs") != nil)
        for number in 0..<5 {
            #expect(
                memory.contents(at: RelativePath.root.appending(FileName(unchecked: [UInt8(0x61 + number)]))) != nil)
        }
        guard case .unresolved([], let errors, 0) = await device.sync() else {
            Issue.record("sync did not say what fails")
            return
        }
        #expect(errors.count == 10)
    }

    @Test("A document that sends the provider away each time keeps no other from going up")
    func sentAway() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock, parallel: 1)
        #expect(await device.sync() == .settled)
        let engine = try #require(device.service.engines.first)
        try device.write("bad", "text")
        clock.advance(.milliseconds(10))
        try device.write("good", "text")
        let trouble = Fault.Effect.failBefore(ProviderError(.unavailable, "the connection was lost"))
        faulty.inject(Fault(.put, trouble, path: "bad", times: nil))
        for _ in 0..<8 where memory.contents(at: "good") == nil {
            clock.advance(.seconds(120))
            if await engine.round(isUrgent: true, pulls: false).offline == nil { continue }
            // Away for a moment.
            faulty.inject(Fault(.connect, trouble))
            #expect(await engine.round(isUrgent: true, pulls: false).offline != nil)
        }
        #expect(memory.contents(at: "good") != nil)
    }

    private func paths(_ prefix: String, _ count: Int) -> [RelativePath] {
        (0..<count).map { RelativePath.root.appending(FileName(unchecked: Array("\(prefix) \($0)".utf8))) }
    }

    @Test("Moves that never happen, as if the provider were away, hold up nothing else")
    func neverMoved() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        for path in paths("large", 6) + ["gone", "sound"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        for path in paths("large", 6) { faulty.inject(Fault(.move, .failBefore(timeout), path: path, times: nil)) }
        for (path, target) in zip(paths("large", 6), paths("moved", 6)) { try device.rename(path, target) }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<10 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        try device.write("edit", "text")
        try device.remove("gone")
        try device.makeDirectory("directory")
        try device.write("directory/new", "text")
        try device.rename("sound", "moved")
        for _ in 0..<3 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        let others: [RelativePath] = ["edit", "directory", "directory/new", "moved"]
        #expect(Set(memory.items.map(\.path)) == Set(paths("large", 6) + others))
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(Set(memory.items.map(\.path)) == Set(paths("moved", 6) + others))
    }

    @Test("Deletions that never happen, as if the provider were away, hold up no other, in whatever depth")
    func neverDeleted() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        try device.makeDirectory("deep")
        let never = paths("never", 12).compactMap(\.name).map { RelativePath("deep").appending($0) }
        for path in never + ["gone"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        for path in never { faulty.inject(Fault(.delete, .failBefore(timeout), path: path, times: nil)) }
        for path in never { try device.remove(path) }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<10 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        try device.remove("gone")
        for _ in 0..<3 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        #expect(memory.contents(at: "gone") == nil && memory.items.count == 13)
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(memory.items.map(\.path) == ["deep"])
    }

    @Test("What the provider does not say of whether it is gone keeps nothing from coming")
    func neverTold() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        let gone = paths("gone", 6)
        for path in gone + ["theirs"] { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        memory.edit { tree in
            for path in gone { tree.remove(path) }
            tree.write("theirs", "other text")
        }
        for path in gone { faulty.inject(Fault(.item, .failBefore(timeout), path: path, times: nil)) }
        let engine = try #require(device.service.engines.first)
        for _ in 0..<3 {
            clock.advance(.seconds(100))
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        #expect(try device.text("theirs") == "other text")
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(try Array(device.listing().keys) == ["theirs"])
    }

    @Test("Many that never come, as if the provider were away, are tried a few at a time, and hold up nothing")
    func manyNeverFetched() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        let many = paths("theirs", 40)
        for path in many { try device.write(path, "text") }
        #expect(await device.sync() == .settled)
        memory.edit { tree in for path in many { tree.write(path, "theirs") } }
        for path in many { faulty.inject(Fault(.fetch, .failBefore(timeout), path: path, times: nil)) }
        let engine = try #require(device.service.engines.first)
        for number in 0..<5 {
            clock.advance(.seconds(100))
            let before = faulty.count(.fetch)
            try device.write(paths("mine", 5)[number], "text")
            _ = await engine.round(isUrgent: false, pulls: true)
            #expect(faulty.count(.fetch) - before <= 8, "\(number)")
        }
        clock.advance(.seconds(100))
        _ = await engine.round(isUrgent: false, pulls: false)
        for path in paths("mine", 5) { #expect(memory.contents(at: path) != nil, "\(path)") }
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        for path in many { #expect(try device.text(path) == "theirs") }
    }

    @Test("A provider that is there and takes nothing is left alone after a few")
    func busy() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        for number in 0..<40 {
            try device.write(RelativePath.root.appending(FileName(unchecked: Array("doc \(number)".utf8))), "text")
        }
        faulty.inject(Fault(.put, .failBefore(timeout), times: nil))
        let engine = try #require(device.service.engines.first)
        for _ in 0..<5 {
            clock.advance(.seconds(100))
            let before = faulty.count(.put)
            _ = await engine.round(isUrgent: false, pulls: true)
            #expect(faulty.count(.put) - before <= 8)
        }
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
    }

    @Test("A document that never comes after a start, as if the provider were away, holds up nothing else")
    func neverFetched() async throws {
        memory.edit { $0.write("doc", "first") }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        #expect(try await device.open("doc") == "first")
        memory.edit { $0.write("doc", "second") }
        faulty.inject(Fault(.fetch, .failBefore(timeout), path: "doc", times: nil))
        try device.write("mine", "text")
        let service = device.restartedService(faulty)
        _ = await service.syncNow(timeout: nil)
        clock.advance(.seconds(100))
        guard case .unresolved([], let errors, 0) = await service.syncNow(timeout: nil) else {
            Issue.record("sync did not say what fails")
            return
        }
        #expect(errors.map(\.path) == ["doc"] && memory.contents(at: "mine") != nil)
        faulty.clearFaults()
        clock.advance(.seconds(100))
        #expect(await service.syncNow(timeout: nil) == .settled)
        #expect(try device.text("doc") == "second")
    }
}
