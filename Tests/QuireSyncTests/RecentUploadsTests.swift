import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Stores that lose what they have acknowledged.
@Suite(.timeLimit(.minutes(1))) struct RecentUploadsTests {
    enum Loss: CaseIterable { case removed, replaced, directory }

    let clock = TestClock()
    let memory = MemoryProvider(capabilities: MemoryProvider.plain)

    @Test("What was uploaded a while ago and is nowhere at the provider is kept as a version", arguments: Loss.allCases)
    func lost(loss: Loss) async throws {
        let device = try Device("one", provider: memory, clock: clock)
        try device.write("doc", "only copy")
        #expect(await device.sync() == .settled)
        memory.edit {
            $0.remove("doc")
            switch loss {
            case .removed: break
            case .replaced: $0.write("doc", "of another device")
            case .directory: $0.write("doc/inside", "of another device")
            }
        }
        #expect(await device.sync() == .settled)
        #expect(try device.tree.status(at: "doc") == nil || loss != .removed)
        #expect(try device.kept() == ["only copy"])
    }

    @Test("What was moved there, or uploaded long ago, or by another device, is not")
    func known() async throws {
        let device = try Device("one", provider: memory, clock: clock)
        memory.edit { $0.write("theirs", "theirs") }
        try device.write("old", "old")
        #expect(await device.sync() == .settled)
        #expect(try await device.open("theirs") == "theirs")
        clock.advance(.seconds(3700))
        try device.write("moved", "moved")
        #expect(await device.sync() == .settled)
        memory.edit {
            $0.write("theirs", "theirs again")
            $0.remove("old")
            $0.move("moved", to: "elsewhere")
        }
        #expect(await device.sync() == .settled)
        #expect(try device.listing().keys.sorted { "\($0)" < "\($1)" } == ["elsewhere", "theirs"])
        #expect(try device.kept() == [])
    }

    @Test("What was uploaded a short while ago is evicted once one look has found it at the provider")
    func evicted() async throws {
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        for path in ["old", "doc", "other"] as [RelativePath] {
            try device.write(path, "only copy")
            #expect(await device.sync() == .settled)
            if path == "old" { clock.advance(.seconds(3700)) }
        }
        var looks = faulty.count(.item)
        #expect(try await device.service.evict("old") == 1)
        #expect(faulty.count(.item) == looks)
        #expect(try await device.service.evict("other") == 1)
        #expect(faulty.count(.item) == looks + 1)
        faulty.isAvailable = false
        looks = faulty.count(.item)
        for _ in 0..<3 {
            await #expect { try await device.service.evict("doc") } throws: { ($0 as? QuireError)?.code == .busy }
        }
        #expect(faulty.count(.item) == looks + 1)
        faulty.isAvailable = true
        #expect(await device.sync() == .settled)
        memory.edit { $0.write("doc", "of another device") }
        await #expect { try await device.service.evict("doc") } throws: { ($0 as? QuireError)?.code == .busy }
        #expect(await device.sync() == .settled)
        #expect(try device.kept() == ["only copy"])
        #expect(try device.text("doc") == "of another device")
    }

    @Test("Of a directory that another device deletes hardly anything is kept")
    func many() async throws {
        let device = try Device("one", provider: memory, clock: clock, pushPart: 200, pullPart: 200)
        try device.makeDirectory("dir")
        for number in 0..<150 { try device.write(RelativePath(stringLiteral: "dir/\(number)"), "\(number)") }
        try device.write("stays", "stays")
        #expect(await device.sync() == .settled)
        memory.edit { $0.remove("dir") }
        #expect(await device.sync() == .settled)
        #expect(try device.listing().count == 1)
        #expect(try device.kept().count == 100)
    }
}
