import QuireCore
import QuireProviders
import Testing

extension ProviderConformance {
    @Test("A directory is created once", arguments: ProviderForm.allCases)
    func createDirectory(form: ProviderForm) async throws {
        let bench = try await form.open()
        let made = try await bench.provider.createDirectory("d", attributes: Bench.attributes(0o750))
        #expect(made.kind == .directory && made.size == .zero)
        if bench.provider.capabilities.attributes { #expect(made.mode == 0o750 && made.mtime == Bench.mtime) }
        #expect(await refusal { try await bench.directory("d") } == .conditionFailed)
        try await bench.put("f", "x")
        #expect(await refusal { try await bench.directory("f") } == .conditionFailed)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A directory's version survives changes of its children", arguments: ProviderForm.allCases)
    func directoryVersion(form: ProviderForm) async throws {
        let bench = try await form.open()
        let made = try await bench.directory("d")
        try await bench.put("d/a", "x")
        #expect(try await bench.provider.item(at: "d")?.version == made.version)
    }

    @Test("Attributes are set under a condition and leave content alone", arguments: ProviderForm.allCases)
    func attributes(form: ProviderForm) async throws {
        let bench = try await form.open()
        let one = try await bench.put("a", "one")
        let later = FileTime(seconds: 1_650_000_000, nanoseconds: 5)
        let set = { (path: RelativePath, version: ProviderVersion) in
            try await bench.provider.setAttributes(path, Bench.attributes(0o400, later), expecting: version)
        }
        guard bench.provider.capabilities.attributes else {
            #expect(await refusal { try await set("a", one.version) } == .unsupported)
            return
        }
        let changed = try await set("a", one.version)
        #expect(changed.mtime == later && changed.mode == 0o400)
        #expect(try await bench.provider.item(at: "a") == changed)
        #expect(try await bench.text("a") == "one")
        if changed.version != one.version {
            #expect(await refusal { try await set("a", one.version) } == .conditionFailed)
        }
        #expect(await refusal { try await set("b", one.version) } == .notFound)
        let directory = try await bench.directory("d")
        #expect(try await set("d", directory.version).mode == 0o400)
        if bench.provider.capabilities.symlinks {
            let link = try await bench.provider.putSymlink("l", target: [0x61], mtime: Bench.mtime, expecting: .absent)
            #expect(try await set("l", link.version).mtime == later)
            #expect(try await bench.provider.item(at: "a")?.mode == 0o400)
        }
        if let tags = changed.tags { try await keepsTags(changed, tags, bench) }
    }

    /// Tags stay through attributes without tags, new content and a move, and go when there are to be none.
    private func keepsTags(_ item: RemoteItem, _ tags: [String], _ bench: Bench) async throws {
        #expect(tags.isEmpty)
        let provider = bench.provider
        var attributes = Bench.attributes(0o600, Bench.mtime)
        attributes.tags = ["two words", "Grüße"]
        let tagged = try await provider.setAttributes(item.path, attributes, expecting: item.version)
        #expect(tagged.tags == attributes.tags)
        let plain = Bench.attributes(0o640, Bench.mtime)
        let again = try await provider.setAttributes(item.path, plain, expecting: tagged.version)
        #expect(again.tags == attributes.tags && again.mode == 0o640)
        let moved = try await provider.move(item.path, to: "elsewhere", expecting: again.version)
        #expect(moved.tags == attributes.tags)
        #expect(try await provider.item(at: "elsewhere")?.tags == attributes.tags)
        let back = try await provider.move("elsewhere", to: item.path, expecting: moved.version)
        attributes.tags = []
        #expect(try await provider.setAttributes(item.path, attributes, expecting: back.version).tags == [])
        #expect(try await provider.item(at: item.path)?.tags == [])
    }

    @Test(
        "A document in whose place there is a directory is refused, not moved, replaced or deleted",
        arguments: ProviderForm.allCases)
    func directoryInPlace(form: ProviderForm) async throws {
        let bench = try await form.open()
        let document = try await bench.put("a", "one")
        try await bench.provider.delete("a", expecting: document.version)
        try await bench.directory("a")
        for isEmpty in [true, false] {
            if !isEmpty { try await bench.put("a/b", "inside") }
            #expect(
                await refusal { try await bench.provider.move("a", to: "c", expecting: document.version) }
                    == .conditionFailed)
            #expect(
                await refusal { try await bench.provider.delete("a", expecting: document.version) } == .conditionFailed)
            #expect(await refusal { try await bench.put("a", "two", .version(document.version)) } == .conditionFailed)
            #expect(await refusal { try await bench.put("a", "two") } == .conditionFailed)
        }
        #expect(try await Set(bench.listing().keys) == ["a", "a/b"])
    }

    @Test("A moved document keeps content and identifier", arguments: ProviderForm.allCases)
    func move(form: ProviderForm) async throws {
        let bench = try await form.open()
        let one = try await bench.put("a", "one")
        let busy = try await bench.put("busy", "other")
        try await bench.directory("d")
        let move = { (to: RelativePath, version: ProviderVersion?) in
            try await bench.provider.move("a", to: to, expecting: version)
        }
        #expect(await refusal { try await move("d/b", busy.version) } == .conditionFailed)
        #expect(await refusal { try await move("d/b", nil) } == .conditionFailed, "a file is moved by version only")
        #expect(await refusal { try await move("busy", one.version) } == .conditionFailed)
        #expect(await refusal { try await move("d", one.version) } == .conditionFailed)
        #expect(await refusal { try await move("a", one.version) } == .conditionFailed)
        let moved = try await move("d/b", one.version)
        #expect(moved.path == "d/b" && moved.identifier == one.identifier)
        if bench.provider.capabilities.attributes { #expect(moved.mtime == one.mtime) }
        #expect(try await bench.text("d/b") == "one")
        #expect(try await bench.text("busy") == "other")
        #expect(try await bench.provider.item(at: "a") == nil)
        #expect(await refusal { try await move("c", one.version) } == .notFound)
        #expect(try await bench.provider.item(at: "d/b")?.version == moved.version)
    }

    @Test("A directory moves with all below it in one step", arguments: ProviderForm.allCases)
    func moveDirectory(form: ProviderForm) async throws {
        let bench = try await form.open()
        let directory = try await bench.directory("d")
        let file = try await bench.put("d/a", "one")
        let move = { (to: RelativePath) in try await bench.provider.move("d", to: to, expecting: nil) }
        guard bench.provider.capabilities.directoryMoves else {
            #expect(await refusal { try await move("e") } == .unsupported)
            return
        }
        #expect(await refusal { try await move("d/inside") } == .unsupported)
        try await bench.directory("empty")
        #expect(await refusal { try await move("empty") } == .conditionFailed, "an empty directory is something, too")
        let moved = try await move("e")
        #expect(moved.identifier == directory.identifier)
        let child = try #require(try await bench.provider.item(at: "e/a"))
        #expect(child.version == file.version && child.identifier == file.identifier)
        #expect(try await Set(bench.listing().keys) == ["e", "e/a", "empty"])
        let back = try await bench.provider.move("e", to: "d", expecting: moved.version)
        #expect(back.path == "d")
    }

    @Test("A deletion happens only under its condition", arguments: ProviderForm.allCases)
    func delete(form: ProviderForm) async throws {
        let bench = try await form.open()
        let one = try await bench.put("a", "one")
        let two = try await bench.put("a", "two", .version(one.version))
        #expect(await refusal { try await bench.provider.delete("a", expecting: one.version) } == .conditionFailed)
        #expect(await refusal { try await bench.provider.delete("a", expecting: nil) } == .conditionFailed)
        #expect(try await bench.text("a") == "two")
        try await bench.provider.delete("a", expecting: two.version)
        #expect(try await bench.provider.item(at: "a") == nil)
        #expect(await refusal { try await bench.provider.delete("a", expecting: two.version) } == .notFound)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("Only an empty directory is deleted", arguments: ProviderForm.allCases)
    func deleteDirectory(form: ProviderForm) async throws {
        let bench = try await form.open()
        let directory = try await bench.directory("d")
        let file = try await bench.put("d/a", "one")
        #expect(await refusal { try await bench.provider.delete("d", expecting: nil) } == .notEmpty)
        #expect(await refusal { try await bench.provider.delete("d", expecting: directory.version) } == .notEmpty)
        try await bench.provider.delete("d/a", expecting: file.version)
        try await bench.provider.delete("d", expecting: nil)
        #expect(await refusal { try await bench.provider.delete("d", expecting: nil) } == .notFound)
        let again = try await bench.directory("d")
        try await bench.provider.delete("d", expecting: again.version)
        #expect(try await bench.listing().isEmpty)
    }
}
