import QuireCore
import QuireProviders
import Testing

/// What every provider promises, whatever keeps the documents.
@Suite("Provider conformance")
struct ProviderConformance {}

extension ProviderConformance {
    @Test("The identity is the same for every device and every time", arguments: ProviderForm.allCases)
    func identity(form: ProviderForm) async throws {
        let bench = try await form.open()
        #expect(try await bench.provider.connect(expected: bench.identity) == bench.identity)
        #expect(try await bench.other.connect(expected: nil) == bench.identity)
        #expect(await refusal { try await bench.provider.connect(expected: "another") } == .unavailable)
    }

    @Test("A document comes back as it was put, with its attributes", arguments: ProviderForm.allCases)
    func putAndFetch(form: ProviderForm) async throws {
        let bench = try await form.open()
        let put = try await bench.provider.put(
            "a.txt", content: bench.content("hello"), attributes: Bench.attributes(0o600), expecting: .absent)
        #expect(put.kind == .file && put.size == ByteCount(5) && put.path == "a.txt")
        if bench.provider.capabilities.attributes {
            #expect(put.mtime == Bench.mtime)
            #expect(put.mode == 0o600)
        }
        let found = try #require(try await bench.provider.item(at: "a.txt"))
        #expect(found.version == put.version && found.identifier == put.identifier)
        let (item, bytes) = try await bench.fetch(found)
        #expect(String(decoding: bytes, as: UTF8.self) == "hello")
        #expect(item.checksum == ContentChecksum.sha256(of: Array("hello".utf8)))
        #expect(item.version == put.version)
        #expect((put.identifier != nil) == bench.provider.capabilities.stableIdentifiers)
    }

    @Test("Documents of no, many and only zero bytes come back exactly", arguments: ProviderForm.allCases)
    func sizes(form: ProviderForm) async throws {
        let bench = try await form.open()
        let large = (0..<(3 << 20) + 17).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let zeros = [UInt8](repeating: 0, count: (2 << 20) + 5)
        for (index, bytes) in [[], [7], large, zeros, zeros + [1]].enumerated() {
            let path = RelativePath([FileName(unchecked: Array("f\(index)".utf8))])
            let item = try await bench.provider.put(
                path, content: bench.content(bytes), attributes: Bench.attributes(), expecting: .absent)
            #expect(item.size.bytes == Int64(bytes.count))
            #expect(try await bench.fetch(item).bytes == bytes)
        }
    }

    @Test("Content that is not what it says is refused as corrupt", arguments: ProviderForm.allCases)
    func corrupt(form: ProviderForm) async throws {
        let bench = try await form.open()
        var content = bench.content("hello")
        content.checksum = ContentChecksum.sha256(of: [1])
        var short = bench.content("hello")
        short.size = ByteCount(4)
        for bad in [content, short] {
            #expect(
                await refusal {
                    try await bench.provider.put(
                        "a.txt", content: bad, attributes: Bench.attributes(), expecting: .absent)
                } == .corrupt)
        }
        #expect(try await bench.provider.item(at: "a.txt") == nil)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A put happens only under its condition, and changes nothing otherwise", arguments: ProviderForm.allCases)
    func putConditions(form: ProviderForm) async throws {
        let bench = try await form.open()
        #expect(await refusal { try await bench.put("a", "x", .version(ProviderVersion("1"))) } == .conditionFailed)
        let one = try await bench.put("a", "one")
        #expect(await refusal { try await bench.put("a", "x", .absent) } == .conditionFailed)
        let two = try await bench.put("a", "two", .version(one.version))
        #expect(two.version != one.version)
        #expect(await refusal { try await bench.put("a", "x", .version(one.version)) } == .conditionFailed)
        #expect(try await bench.text("a") == "two")
        let again = try await bench.put("a", "two", .version(two.version))
        if !ProviderForm.versionsByContent.contains(form) {
            #expect(again.version != two.version, "every put makes a new version, also of the same bytes")
        }
        let directory = try await bench.directory("d")
        #expect(await refusal { try await bench.put("d", "x", .version(directory.version)) } == .conditionFailed)
        #expect(await refusal { try await bench.put("d", "x", .absent) } == .conditionFailed)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("What needs a parent says so when there is none, or when it is a file", arguments: ProviderForm.allCases)
    func parents(form: ProviderForm) async throws {
        let bench = try await form.open()
        let file = try await bench.put("f", "x")
        for path in ["no/a", "no/b/c", "f/a"] as [RelativePath] {
            #expect(await refusal { try await bench.put(path, "x") } == .parentMissing)
            #expect(await refusal { try await bench.directory(path) } == .parentMissing)
            #expect(
                await refusal { try await bench.provider.move("f", to: path, expecting: file.version) }
                    == (path == "f/a" ? .unsupported : .parentMissing))
            #expect(try await bench.provider.item(at: path) == nil)
            #expect(await refusal { try await bench.provider.delete(path, expecting: file.version) } == .notFound)
        }
        if bench.provider.capabilities.symlinks {
            #expect(
                await refusal {
                    try await bench.provider.putSymlink("no/l", target: [0x61], mtime: Bench.mtime, expecting: .absent)
                } == .parentMissing)
        }
    }

    @Test(
        "A fetch of another version, or of what is gone, is refused and leaves no file",
        arguments: ProviderForm.allCases)
    func fetchConditions(form: ProviderForm) async throws {
        let bench = try await form.open()
        let one = try await bench.put("a", "one")
        let target = bench.work.appending("out")
        try await bench.put("a", "two", .version(one.version))
        #expect(
            await refusal { try await bench.provider.fetch("a", version: one.version, to: target) { _ in } }
                == .conditionFailed)
        #expect(
            await refusal { try await bench.provider.fetch("b", version: one.version, to: target) { _ in } }
                == .notFound)
        #expect(
            await refusal { try await bench.provider.fetch("b/c", version: one.version, to: target) { _ in } }
                == .notFound)
        #expect(Plain.read(target) == nil)
        Plain.write("mine", to: target)
        let now = try #require(try await bench.provider.item(at: "a"))
        #expect(await refusal { try await bench.provider.fetch("a", version: now.version, to: target) { _ in } } != nil)
        #expect(Plain.text(target) == "mine", "what was at the destination stays")
    }

    @Test("Symbolic links keep their target, and are replaced under a condition", arguments: ProviderForm.allCases)
    func symlinks(form: ProviderForm) async throws {
        let bench = try await form.open()
        let provider = bench.provider
        func link(_ target: [UInt8], _ expecting: Precondition) async throws -> RemoteItem {
            try await provider.putSymlink("l", target: target, mtime: Bench.mtime, expecting: expecting)
        }
        guard provider.capabilities.symlinks else {
            #expect(await refusal { try await link([0x61], .absent) } == .unsupported)
            return
        }
        let target = Array("../elsewhere/".utf8) + [0xFF]
        let made = try await link(target, .absent)
        #expect(made.kind == .symlink && made.symlinkTarget == target && made.size.bytes == Int64(target.count))
        #expect(made.mtime == Bench.mtime)
        #expect(try await provider.item(at: "l") == made)
        #expect(try await bench.listing()["l"] == made)
        #expect(await refusal { try await link(target, .absent) } == .conditionFailed)
        let other = try await link([0x62], .version(made.version))
        #expect(other.symlinkTarget == [0x62])
        #expect(
            await refusal { try await bench.provider.fetch("l", version: other.version, to: "/tmp/x") { _ in } }
                == .unsupported)
        let file = try await bench.put("l", "now a file", .version(other.version))
        #expect(file.kind == .file)
        #expect(bench.leftovers.isEmpty)
    }

    @Test("A listing has everything once, and an unchanged one says so", arguments: ProviderForm.allCases)
    func listing(form: ProviderForm) async throws {
        let bench = try await form.open()
        #expect(try await bench.listing().isEmpty)
        try await bench.directory("d")
        try await bench.directory("d/e")
        try await bench.put("d/e/f", "deep")
        try await bench.put("top", "x")
        let listed = try await bench.listing()
        #expect(Set(listed.keys) == ["d", "d/e", "d/e/f", "top"])
        for (path, item) in listed {
            var found = try #require(try await bench.provider.item(at: path))
            // Which some listings lack.
            if item.checksum == nil { found.checksum = nil }
            if item.mode == nil, found.mode != nil { (found.mtime, found.mode) = (item.mtime, nil) }
            #expect(found == item)
        }
        guard case .everything(_, let next) = try await bench.provider.changes(since: nil) else {
            Issue.record("a first listing names everything")
            return
        }
        guard case .none(let same) = try await bench.provider.changes(since: next) else {
            Issue.record("nothing had changed")
            return
        }
        #expect(same == next)
        let one = try #require(listed["top"])
        try await bench.put("top", "y", .version(one.version))
        guard case .none = try await bench.provider.changes(since: next) else { return }
        Issue.record("a change was not seen")
    }

    @Test("However many directories there are, a listing has all", arguments: ProviderForm.allCases)
    func manyDirectories(form: ProviderForm) async throws {
        let bench = try await form.open()
        try await bench.directory("d")
        let paths = (0..<130).map { RelativePath(stringLiteral: "d/\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask {
                    for number in stride(from: part, to: paths.count, by: 8) {
                        try await bench.directory(paths[number])
                    }
                }
            }
            try await group.waitForAll()
        }
        try await bench.put("d/129/deep", "x")
        #expect(Set(try await bench.listing().keys) == Set(paths + ["d", "d/129/deep"]))
    }

    @Test("The root can be looked at and not be changed", arguments: ProviderForm.allCases)
    func root(form: ProviderForm) async throws {
        let bench = try await form.open()
        #expect(try await bench.provider.item(at: .root)?.kind == .directory)
        #expect(await refusal { try await bench.provider.delete(.root, expecting: nil) } == .invalidName)
        #expect(await refusal { try await bench.directory(.root) } == .invalidName)
        #expect(await refusal { try await bench.put(.root, "x") } == .invalidName)
    }

    @Test("Free space is told or unknown", arguments: ProviderForm.allCases)
    func freeSpace(form: ProviderForm) async throws {
        let bench = try await form.open()
        if let free = try await bench.provider.freeSpace() { #expect(free > .zero) }
    }
}
