import QuireCore
import QuireProviders
import Testing

@Suite("Scripted faults")
struct FaultyProviderTests {
    private let lost = ProviderError(.failed, "the answer was lost")

    @Test("A fault before the call leaves the provider alone; one after it has taken effect")
    func beforeAndAfter() async throws {
        let memory = MemoryProvider()
        let faulty = FaultyProvider(memory)
        let bench = try await Bench(faulty, faulty, TemporaryDirectory(), nil, same: true)
        faulty.inject(Fault(.put, .failBefore(lost)))
        #expect(await refusal { try await bench.put("a", "x") } == .failed)
        #expect(memory.contents(at: "a") == nil)
        faulty.inject(Fault(.put, .failAfter(lost)))
        #expect(await refusal { try await bench.put("a", "x") } == .failed)
        #expect(memory.contents(at: "a") == Array("x".utf8))
        try await bench.put("b", "y")
        #expect(faulty.count(.put) == 3)
    }

    @Test("Faults keep to their path, their start and their number")
    func scripts() async throws {
        let faulty = FaultyProvider(MemoryProvider())
        let bench = try await Bench(faulty, faulty, TemporaryDirectory(), nil, same: true)
        faulty.inject(Fault(.put, .failBefore(lost), path: "b", skipping: 1, times: 2))
        let first = try await bench.put("b", "1")
        try await bench.put("a", "1")
        for _ in 0..<2 { #expect(await refusal { try await bench.put("b", "2", .version(first.version)) } == .failed) }
        try await bench.put("b", "2", .version(first.version))
        faulty.inject(Fault(.item, .failBefore(lost), times: nil))
        for _ in 0..<3 { #expect(await refusal { try await faulty.item(at: "a") } == .failed) }
        faulty.clearFaults()
        #expect(try await faulty.item(at: "a") != nil)
    }

    @Test("A provider that is switched off is unavailable")
    func availability() async throws {
        let faulty = FaultyProvider(MemoryProvider())
        faulty.isAvailable = false
        #expect(await refusal { try await faulty.connect(expected: nil) } == .unavailable)
        faulty.isAvailable = true
        _ = try await faulty.connect(expected: nil)
    }

    @Test("A gate holds a call until it is opened, or the call's task is cancelled")
    func gates() async throws {
        let memory = MemoryProvider()
        let faulty = FaultyProvider(memory)
        let bench = try await Bench(faulty, faulty, TemporaryDirectory(), nil, same: true)
        let gate = Gate()
        faulty.inject(Fault(.put, .hold(gate)))
        let put = Task { try await bench.put("a", "x") }
        await gate.waitForArrivals()
        #expect(memory.contents(at: "a") == nil)
        gate.open()
        _ = try await put.value
        let shut = Gate()
        faulty.inject(Fault(.put, .hold(shut)))
        let held = Task { await refusal { try await bench.put("b", "x") } }
        await shut.waitForArrivals()
        held.cancel()
        #expect(await held.value == .cancelled)
        #expect(memory.contents(at: "b") == nil)
    }

    @Test("A truncated fetch fails and leaves no file")
    func truncated() async throws {
        let faulty = FaultyProvider(MemoryProvider())
        let bench = try await Bench(faulty, faulty, TemporaryDirectory(), nil, same: true)
        let item = try await bench.put("a", "x")
        faulty.inject(Fault(.fetch, .truncate))
        let target = bench.work.appending("out")
        #expect(await refusal { try await faulty.fetch("a", version: item.version, to: target) { _ in } } == .failed)
        #expect(Plain.read(target) == nil)
        #expect(try await bench.text("a") == "x")
    }
}

@Suite("Memory provider")
struct MemoryProviderTests {
    @Test("A quota refuses what does not fit and counts what is replaced once")
    func quota() async throws {
        let memory = MemoryProvider(quota: ByteCount(10))
        let bench = try await Bench(memory, memory, TemporaryDirectory(), nil, same: true)
        let one = try await bench.put("a", "123456")
        #expect(await refusal { try await bench.put("b", "12345") } == .noSpace)
        try await bench.put("a", "1234567890", .version(one.version))
        #expect(try await memory.freeSpace() == .zero)
    }

    @Test("Calls are logged in order; a test's own edits are not")
    func log() async throws {
        let memory = MemoryProvider()
        memory.edit { $0.write("d/a", "x") }
        #expect(memory.items.map(\.path) == ["d", "d/a"])
        let item = try #require(try await memory.item(at: "d/a"))
        _ = try await memory.move("d/a", to: "b", expecting: item.version)
        #expect(memory.operations == [.item("d/a"), .move("d/a", to: "b")])
        memory.edit { $0.remove("d") }
        #expect(memory.items.map(\.path) == ["b"])
        memory.isOnline = false
        #expect(await refusal { try await memory.changes(since: nil) } == .unavailable)
    }
}

@Suite("Provider URLs")
struct ProviderURLTests {
    @Test("A folder's URL names its absolute path, byte by byte", arguments: ["/a", "/a b/%20", "/\u{E9}:x"])
    func folder(path: String) throws {
        let url = try ProviderURL("folder:\(path)/")
        #expect(url.kind == .folder(path: path))
        #expect(url.description == "folder:\(path)")
        #expect(url == ProviderURL(folder: path))
        #expect((url.makeProvider() as? FolderProvider)?.root == path)
    }

    @Test(
        "Other kinds are refused with what to write instead",
        arguments: [
            "", "/a", "folder:", "folder:a", "ftp://x", "webdav+https:u@h/p", "s3+http://h/b",
        ])
    func refused(text: String) {
        let error = #expect(throws: QuireError.self) { try ProviderURL(text) }
        #expect(error?.code == .usage)
        #expect(error?.remedy != nil)
    }
}
