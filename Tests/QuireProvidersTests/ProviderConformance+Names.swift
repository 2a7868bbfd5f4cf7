import QuireCore
import QuireProviders
import Testing

extension ProviderConformance {
    /// Names that some programs get wrong.
    static let awkward: [[UInt8]] = [
        Array("-rf".utf8), Array("a\nb".utf8), Array(" ".utf8), Array("...".utf8), Array("caf\u{E9}".utf8),
        Array("cafe\u{301}".utf8), Array("\u{1F4DD} notes".utf8), Array("100% #?&'\"\\".utf8), Array("Case".utf8),
        Array("case".utf8), Array("quire".utf8), Array(".quirex".utf8), [UInt8](repeating: 0x78, count: 255),
        Array(String(repeating: "\u{E9}", count: 127).utf8), Array("a:b*c|d".utf8),
    ]

    @Test("Awkward names are kept byte by byte", arguments: ProviderForm.allCases)
    func awkwardNames(form: ProviderForm) async throws {
        let bench = try await form.open()
        let directory: RelativePath = "d"
        try await bench.directory(directory)
        var awkward: [[UInt8]] = []
        for bytes in Self.awkward {
            let name = try #require(FileName(bytes))
            do throws(ProviderError) {
                let item = try await bench.provider.put(
                    directory.appending(name), content: bench.content("\(awkward.count)"),
                    attributes: Bench.attributes(), expecting: .absent)
                #expect(item.path.name?.bytes == bytes)
                awkward.append(bytes)
            } catch {
                // What a server cannot hold, or would not list, is refused as a name.
                #expect((ProviderForm.servers + ProviderForm.stores).contains(form) && error.code == .invalidName)
            }
        }
        #expect(awkward.count > 8)
        let listed = try await bench.listing().filter { $0.value.kind == .file }
        #expect(Set(listed.keys.compactMap { $0.name?.bytes }) == Set(awkward))
        for (index, bytes) in awkward.enumerated() {
            let path = directory.appending(FileName(unchecked: bytes))
            #expect(try await bench.text(path) == "\(index)")
            let item = try #require(listed[path])
            let moved = try await bench.provider.move(
                path, to: RelativePath([FileName(unchecked: bytes)]), expecting: item.version)
            try await bench.provider.delete(moved.path, expecting: moved.version)
        }
        #expect(try await bench.listing().count == 1)
    }

    @Test("A name that is not UTF-8 is kept, or refused as a name", arguments: ProviderForm.allCases)
    func notUTF8(form: ProviderForm) async throws {
        let bench = try await form.open()
        let path = RelativePath([FileName(unchecked: [0x61, 0xFF, 0xFE, 0x80])])
        guard bench.provider.capabilities.arbitraryNames else {
            #expect(await refusal { try await bench.put(path, "x") } == .invalidName)
            return
        }
        try await bench.put(path, "x")
        #expect(try await bench.text(path) == "x")
        #expect(try await bench.listing()[path] != nil)
    }

    @Test("A name too long is refused as a name", arguments: ProviderForm.allCases)
    func tooLong(form: ProviderForm) async throws {
        let bench = try await form.open()
        let length = bench.provider.capabilities.longestName + 1
        let path = RelativePath([FileName(unchecked: [UInt8](repeating: 0x78, count: length))])
        #expect(await refusal { try await bench.put(path, "x") } == .invalidName)
        #expect(await refusal { try await bench.directory(path) } == .invalidName)
        let item = try await bench.put("a", "x")
        #expect(await refusal { try await bench.provider.move("a", to: path, expecting: item.version) } == .invalidName)
        #expect(try await bench.text("a") == "x")
        #expect(bench.leftovers.isEmpty)
    }

    @Test("What is Quire's own, and what is no path, is refused as a name", arguments: ProviderForm.allCases)
    func reserved(form: ProviderForm) async throws {
        let bench = try await form.open()
        let item = try await bench.put("a", "x")
        let escaping = RelativePath(unchecked: Array("../a".utf8))
        for path in [".quire", ".quire/store.json", ".quire/tmp/x", escaping] as [RelativePath] {
            #expect(await refusal { try await bench.put(path, "x") } == .invalidName)
            #expect(await refusal { try await bench.directory(path) } == .invalidName)
            #expect(await refusal { try await bench.provider.item(at: path) } == .invalidName)
            #expect(await refusal { try await bench.provider.delete(path, expecting: nil) } == .invalidName)
            #expect(
                await refusal { try await bench.provider.move("a", to: path, expecting: item.version) } == .invalidName)
            #expect(await refusal { try await bench.provider.move(path, to: "b", expecting: nil) } == .invalidName)
        }
        try await bench.directory("d")
        let own = "only the one at the root is reserved"
        if form == .nginx {
            // Which does not list what begins with a dot.
            #expect(await refusal { try await bench.put("d/.quire", own) } == .invalidName)
            return
        }
        try await bench.put("d/.quire", own)
        #expect(try await Set(bench.listing().keys) == ["a", "d", "d/.quire"])
    }

    @Test("Many directories deep works like one", arguments: ProviderForm.allCases)
    func deep(form: ProviderForm) async throws {
        let bench = try await form.open()
        var path = RelativePath.root
        // Servers reach their files by whole paths, of 4096 bytes at the most; a key has 1024.
        let depth = ProviderForm.stores.contains(form) ? 14 : ProviderForm.servers.contains(form) ? 50 : 100
        for _ in 0..<depth {
            path = path.appending(FileName(unchecked: [UInt8](repeating: 0x64, count: 60)))
            try await bench.directory(path)
        }
        let file = path.appending(FileName(unchecked: Array("leaf".utf8)))
        try await bench.put(file, "deep")
        #expect(try await bench.text(file) == "deep")
        let listed = try await bench.listing()
        #expect(listed.count == depth + 1 && listed[file] != nil)
    }
}
