import QuireCore
import QuireProviders
import Testing

@testable import QuireSync

/// Files of another program at the provider whose names are those of temporaries.
@Suite(.timeLimit(.minutes(1))) struct ProvidersTemporariesTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    private func device() async throws -> (Device, FaultyProvider) {
        memory.edit {
            for name in ["film.part", "notes~", "~$x.docx", ".Trash-1000/files/doc"] as [RelativePath] {
                $0.write(name, "text")
            }
            $0.write(".~lock.x.odt#", "")
            $0.write("link~", .symlink(Array("film.part".utf8)))
        }
        let faulty = FaultyProvider(memory)
        let device = try Device("one", provider: faulty, clock: clock)
        #expect(await device.sync() == .settled)
        return (device, faulty)
    }

    @Test("They stay there, read here or not, and what becomes of them there comes here without conflicts")
    func stay() async throws {
        let (device, faulty) = try await device()
        let names = Set(memory.items.map(\.path))
        #expect(names.count == 8)
        memory.edit { $0.write("film.part", "newer, dataless") }
        for _ in 0..<2 {
            clock.advance(.seconds(100))
            #expect(await device.sync() == .settled)
            #expect(try Set(device.listing().keys) == names)
            for name in ["film.part", "notes~", "~$x.docx", ".Trash-1000/files/doc"] as [RelativePath] {
                #expect(try await device.open(name) != nil)
            }
        }
        memory.edit { $0.write("film.part", "newer") }
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(try await device.open("film.part") == "newer")
        #expect(try Set(device.listing().keys) == names)
        #expect(Set(memory.items.map(\.path)) == names && faulty.count(.delete) == 0)
    }

    @Test("What is edited, renamed or removed here is so there")
    func edited() async throws {
        let (device, faulty) = try await device()
        for name in ["film.part", "~$x.docx"] as [RelativePath] { #expect(try await device.open(name) == "text") }
        try device.write("film.part", "edited")
        try device.rename("~$x.docx", "x.docx")
        try device.remove("notes~")
        clock.advance(.seconds(100))
        #expect(await device.sync() == .settled)
        #expect(memory.contents(at: "film.part") == Array("edited".utf8))
        #expect(memory.contents(at: "x.docx") == Array("text".utf8) && memory.contents(at: "~$x.docx") == nil)
        #expect(memory.contents(at: "notes~") == nil && faulty.count(.delete) == 1)
    }
}
