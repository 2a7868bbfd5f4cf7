import QuireCore
import QuireProviders
import QuireStore
@testable import QuireSync
import Testing

/// Servers that make something else of what they are sent, as SharePoint does with office documents.
@Suite(.timeLimit(.minutes(1))) struct RemadeDocumentsTests {
    let clock = TestClock()
    let memory = MemoryProvider()

    private func device(
        isCertain: Bool = true, _ remake: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 + Array("+".utf8) }
    ) throws -> Device {
        try Device("one", provider: RemakingProvider(memory, isCertain: isCertain, remake), clock: clock)
    }

    /// What a daemon does for a while.
    private func run(_ device: Device, _ rounds: Int = 30) async throws {
        let engine = try #require(device.service.engines.first)
        for _ in 0..<rounds {
            clock.advance(.seconds(15))
            try await device.index.settle()
            _ = await engine.round(isUrgent: false, pulls: true)
        }
        try await device.index.settle()
    }

    private var puts: Int { memory.operations.count { if case .put = $0 { true } else { false } } }

    private func texts(_ device: Device) throws -> [String: String?] {
        var texts: [String: String?] = [:]
        for path in try device.listing().keys { texts[path.description] = try device.text(path) }
        return texts
    }

    @Test("What the server made of a document is the document, and what was sent is an earlier version of it")
    func remade() async throws {
        let device = try device()
        try device.write("a.docx", "mine")
        try device.write("b.txt", "text")
        try await run(device)
        #expect(try texts(device) == ["a.docx": "mine+", "b.txt": "text"])
        #expect(try device.kept() == ["mine"])
        let item = try #require(try await device.index.item(drivePath: "a.docx"))
        #expect(try device.home.keptVersions.list(item.entry.id).first?.isDiscardable == true)
        #expect(puts == 2)
        #expect(await device.sync() == .settled)
        #expect(puts == 2)
    }

    @Test("Each later edit is sent once, over what the server made of the one before")
    func edited() async throws {
        let device = try device()
        for text in ["one", "two", "three"] {
            try device.write("a.docx", text)
            try await run(device, 5)
            #expect(try texts(device) == ["a.docx": "\(text)+"])
        }
        #expect(puts == 3)
        #expect(try device.kept().sorted() == ["one", "three", "two"])
    }

    @Test("What is saved before the server's comes here goes over that, and makes no conflict copy")
    func savedMeanwhile() async throws {
        let device = try device()
        try device.write("a.docx", "mine")
        // After the upload, before what the server made of it is installed.
        device.whenCommitting.set(device) { try $0.write("a.docx", "mine, edited") }
        try await run(device)
        #expect(try texts(device) == ["a.docx": "mine, edited+"])
        #expect(puts == 2)
    }

    @Test(
        "What is renamed, or made executable, before that has come is brought all the same", arguments: [true, false])
    func changedMeanwhile(isRenamed: Bool) async throws {
        let faulty = FaultyProvider(RemakingProvider(memory, isCertain: true) { $0 + Array("+".utf8) })
        let device = try Device("one", provider: faulty, clock: clock)
        let engine = try #require(device.service.engines.first)
        try device.write("a.docx", "mine")
        clock.advance(.seconds(15))
        faulty.inject(Fault(.fetch, .failBefore(ProviderError(.failed, "an error")), times: 2))
        _ = await engine.round(isUrgent: true, pulls: false)
        #expect(try device.text("a.docx") == "mine" && puts == 1)
        if isRenamed { try device.rename("a.docx", "b.docx") } else { try device.chmod("a.docx", 0o755) }
        try await run(device)
        #expect(try texts(device) == [isRenamed ? "b.docx" : "a.docx": "mine+"])
        #expect(try device.kept() == ["mine"])
    }

    @Test("What has a program open meanwhile gets it when that has closed it")
    func open() async throws {
        let device = try device()
        try device.write("a.docx", "mine")
        let inode = try device.tree.requiredStatus(at: "a.docx").inode
        device.openForWriting.insert(inode)
        try await run(device)
        #expect(try texts(device) == ["a.docx": "mine"])
        device.openForWriting.removeAll()
        device.index.record(.contentChanged(try device.tree.requiredStatus(at: "a.docx"), writersOpen: false))
        try await run(device)
        #expect(try texts(device) == ["a.docx": "mine+"])
        #expect(try device.kept() == ["mine"])
        #expect(puts == 1)
    }

    @Test("A document of which less than half is kept stays here, is told of, and is sent again when it changes")
    func cut() async throws {
        let device = try device { Array($0.prefix(3)) }
        try device.write("a.docx", "a long text")
        try await run(device)
        #expect(try texts(device) == ["a.docx": "a long text"])
        #expect(puts == 1)
        guard case .unresolved(let conflicts, let errors, _) = await device.sync() else {
            Issue.record("nothing was told")
            return
        }
        #expect(conflicts.isEmpty && errors.map(\.path) == ["a.docx"])
        #expect(errors.first?.message.contains("11 bytes were sent, 3 are there") == true)
        // Asked for it, it is tried again.
        #expect(puts == 2)
        try await run(device)
        #expect(puts == 2)
        try device.write("a.docx", "one")
        try await run(device)
        #expect(try texts(device) == ["a.docx": "one"])
        #expect(await device.sync() == .settled)
    }

    @Test(
        "Where another device may have written, there is one conflict copy, and no copy of that",
        arguments: ["+", ""])
    func uncertain(added: String) async throws {
        let device = try device(isCertain: false) { Array($0.prefix(4)) + Array(added.utf8) }
        try device.write("a.docx", "mine alone")
        try await run(device)
        let copies = try device.listing().keys.filter { $0 != "a.docx" }
        #expect(copies.count == 1)
        #expect(try await device.open("a.docx") == "mine" + added)
        // It stays until the user removes it.
        #expect(try device.kept() == ["mine alone"])
        let copy = try #require(copies.first)
        let item = try #require(try await device.index.item(drivePath: copy))
        #expect(try device.home.keptVersions.list(item.entry.id).map(\.isDiscardable) == [false])
        #expect(puts == 2)
        let other = try Device("two", provider: memory, clock: clock)
        _ = await other.sync()
        #expect(Set(try other.listing().keys) == Set(try device.listing().keys))
    }
}
