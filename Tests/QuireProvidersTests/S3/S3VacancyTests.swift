import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Names that were directories', at stores that forget directories late and at those that have none.
@Suite("Names that were directories' at S3 stores")
struct S3VacancyTests {
    static let stores = S3UploadTests.stores

    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private func connected(_ store: S3TestStore) async throws -> S3Provider {
        let provider = store.provider()
        _ = try await provider.connect(expected: nil)
        return provider
    }

    @discardableResult
    private func put(_ path: RelativePath, _ text: String, _ provider: S3Provider) async throws -> RemoteItem {
        let file = work.appending("snapshot-\(UInt64.random(in: 0 ... .max))")
        let bytes = Array(text.utf8)
        Plain.write(bytes, to: Array(file.utf8))
        let content = UploadContent(
            snapshotPath: file, size: ByteCount(Int64(bytes.count)), checksum: .sha256(of: bytes))
        return try await provider.put(path, content: content, attributes: Bench.attributes(), expecting: .absent)
    }

    private func text(_ path: RelativePath, _ provider: S3Provider) async throws -> String? {
        guard let item = try await provider.item(at: path), item.kind == .file else { return nil }
        let file = work.appending("fetched-\(UInt64.random(in: 0 ... .max))")
        _ = try await provider.fetch(path, version: item.version, to: file) { _ in }
        return Plain.read(file).map { String(decoding: $0, as: UTF8.self) }
    }

    private func names(_ provider: S3Provider) async throws -> Set<String> {
        guard case .everything(let items, _) = try await provider.changes(since: nil) else { return [] }
        return Set(items.map { $0.kind == .directory ? "\($0.path)/" : "\($0.path)" })
    }

    @Test("What others have left of a directory is in nobody's way", arguments: stores)
    func leftOver(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        let client = store.client()
        for name in ["document", "directory", "moved", "deep"] {
            let key = Array("my drive/\(name)/\(name == "deep" ? "deeper/" : "")inside".utf8)
            try #require(try await client.put(key, .bytes([1]), .none).isSuccess)
            try #require(try await client.delete(key).isSuccess)
        }
        #expect(try await names(provider) == [])
        try await put("document", "text", provider)
        try await put("deep", "under", provider)
        let source = try await put("source", "moved", provider)
        _ = try await provider.move("source", to: "moved", expecting: source.version)
        _ = try await provider.createDirectory("directory", attributes: Bench.attributes())
        #expect(try await names(provider) == ["document", "deep", "moved", "directory/"])
        #expect(try await text("document", provider) == "text")
        #expect(try await text("deep", provider) == "under")
        #expect(try await text("moved", provider) == "moved")
    }

    @Test(
        "A name goes from directory to document and back, and the store never forgets a directory under it",
        arguments: stores)
    func changing(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        for _ in 0..<3 {
            let directory = try await provider.createDirectory("a", attributes: Bench.attributes())
            let inside = try await put("a/b", "inside", provider)
            try await provider.delete("a/b", expecting: inside.version)
            try await provider.delete("a", expecting: directory.version)
            #expect(try await provider.item(at: "a") == nil)
            #expect(try await names(provider) == [])
            #expect(await refusal { try await provider.delete("a", expecting: directory.version) } == .notFound)
            let document = try await put("a", "text", provider)
            #expect(try await text("a", provider) == "text")
            #expect(try await names(provider) == ["a"])
            #expect(await refusal { try await put("a", "other", provider) } == .conditionFailed)
            #expect(
                await refusal { try await provider.createDirectory("a", attributes: Bench.attributes()) }
                    == .conditionFailed)
            // What it has a directory for it does not clear away as an empty one.
            let there = try await store.client().head(Array("my drive/a/".utf8))
            #expect(there.isSuccess == provider.abilities.keepsDirectories)
            try await provider.delete("a", expecting: document.version)
            #expect(try await provider.item(at: "a") == nil)
            #expect(try await names(provider) == [])
        }
    }

    @Test("Of several who take the place of a directory one wins", arguments: stores)
    func race(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        for round in 0..<4 {
            let path = RelativePath([FileName(unchecked: Array("a\(round)".utf8))])
            let directory = try await provider.createDirectory(path, attributes: Bench.attributes())
            try await provider.delete(path, expecting: directory.version)
            let won = await withTaskGroup(of: String?.self, returning: [String].self) { group in
                for writer in 0..<6 {
                    let text = "writer \(writer)"
                    group.addTask { (try? await put(path, text, provider)) == nil ? nil : text }
                }
                return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
            #expect(won.count == 1)
            #expect(try await text(path, provider) == won.first)
        }
    }

    @Test("A document and a directory of one name become two, and the directory can be removed", arguments: stores)
    func covered(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        let client = store.client()
        _ = try await client.put(Array("my drive/a".utf8), .bytes(Array("text".utf8)), .none)
        _ = try await client.put(Array("my drive/a/b".utf8), .bytes(Array("inside".utf8)), .none)
        let found = try await names(provider)
        #expect(found.count == 3 && found.isSuperset(of: ["a/", "a/b"]))
        let copy = try #require(found.subtracting(["a/", "a/b"]).first)
        #expect(try await text(RelativePath([FileName(unchecked: Array(copy.utf8))]), provider) == "text")
        let inside = try #require(try await provider.item(at: "a/b"))
        try await provider.delete("a/b", expecting: inside.version)
        #expect(try await names(provider) == [copy])
        try await put("a", "again", provider)
        #expect(try await text("a", provider) == "again")
    }

    @Test("What the store has forgotten is swept, and nothing else", arguments: stores)
    func sweep(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        for name in ["gone", "taken", "kept"] as [RelativePath] {
            let directory = try await provider.createDirectory(name, attributes: Bench.attributes())
            if name != "kept" { try await provider.delete(name, expecting: directory.version) }
        }
        let listed = try await store.client().listAll(Array("my drive/".utf8)).filter { S3Sign($0) == .vacancy }
        try await put("taken", "text", provider)
        let now = SystemCalls.now()
        await provider.vacancy.sweep(listed, now: FileTime(seconds: now.seconds + 7200, nanoseconds: 0))
        #expect(try await names(provider) == ["taken", "kept/"])
        #expect(try await text("taken", provider) == "text")
        #expect(try await !store.client().head(Array("my drive/gone/".utf8)).isSuccess)
    }

    @Test(
        "A document that another device removes while it is moved is no name that the store refuses", arguments: stores)
    func sourceGone(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        let source = try await put("a", "text", provider)
        try await provider.delete("a", expecting: source.version)
        #expect(await refusal { try await provider.copy(source, to: "b") } == .conditionFailed)
        #expect(try await names(provider) == [])
    }

    @Test(
        "A document that another device moves elsewhere while it is moved is not lost: the copy stays",
        arguments: stores)
    func sourceTaken(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let other = try await connected(store)
        let source = try await put("a", "text", other)
        let removals = Lock(0)
        // Another device takes the copy for its own move's, whose answer it has not got, and ends that.
        let provider = store.provider { (request) async throws(ProviderError) in
            let removes = request.method == "DELETE" || request.method == "PUT" && request.fields["If-Match"] != nil
            guard removes, request.target.hasSuffix("/my%20drive/a"),
                removals.withLock({
                    $0 += 1; return $0
                }) == 1
            else { return }
            try await other.delete("a", expecting: source.version)
        }
        _ = try await provider.connect(expected: nil)
        // A store that checks nothing takes it for removed.
        let code = await refusal { try await provider.move("a", to: "b", expecting: source.version) }
        #expect([nil, .conditionFailed].contains(code))
        #expect(removals.withLock(\.self) > 0)
        #expect(try await text("b", other) == "text")
    }

    @Test(
        "A store that is busy when it is asked what is at a name has not said that nothing is",
        arguments: [500, 503, 401])
    func busy(status: Int) async throws {
        let server = try LoopbackServer(steps: [{ peer, _ in peer.answer("\(status) No") }])
        let client = server.store
        let vacancy = S3Vacancy(client: client, abilities: S3Abilities(deletesChecked: true, keepsDirectories: true))
        await #expect(throws: ProviderError.self) { try await vacancy.isDirectoryWithContent("a") }
        await #expect(throws: ProviderError.self) { try await client.look([0x61]) }
    }

    @Test("A store that is busy when what others have left is taken has not said that something is there")
    func busyTaking() async throws {
        let server = try LoopbackServer(steps: [
            { peer, request in
                let isTaking = request.head.lowercased().contains("if-match")
                switch request.head.prefix(while: { $0 != " " }) {
                case "PUT": peer.answer(isTaking ? "503 Service Unavailable" : "412 Precondition Failed")
                case "HEAD": peer.answer("200 OK", ["ETag: \"\""])
                default: peer.answer("200 OK", [], "<ListBucketResult></ListBucketResult>")
                }
            }
        ])
        let client = server.store
        let vacancy = S3Vacancy(client: client, abilities: S3Abilities(deletesChecked: true, keepsDirectories: true))
        await #expect(throws: ProviderError.self) {
            try await vacancy.publish("a", .absent) { (condition) async throws(ProviderError) in
                try await client.put([0x61], .bytes([]), condition)
            }
        }
    }

    @Test("A vacancy that is no directory to the store is in nobody's way, either", arguments: stores)
    func plainVacancy(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = try await connected(store)
        guard provider.abilities.keepsDirectories else { return }
        for name in ["document", "directory"] as [RelativePath] {
            let key = store.client().address.key(name)
            try #require(try await store.client().put(key, .bytes(S3Sign.vacancy.content), .none).isSuccess)
            try #require(try await store.client().head(key + [0x2F]).status == 404)
        }
        try await put("document", "text", provider)
        _ = try await provider.createDirectory("directory", attributes: Bench.attributes())
        try await put("directory/inside", "inside", provider)
        #expect(try await names(provider) == ["document", "directory/", "directory/inside"])
        #expect(try await text("document", provider) == "text")
        #expect(try await text("directory/inside", provider) == "inside")
    }

    @Test("Where a copy and an upload may both win, a small document is moved by an upload, with all that it remembers")
    func carried() async throws {
        guard TestServer.started["seaweedfs"] != nil else { return }
        let store = try await S3TestStore("seaweedfs")
        let copies = Lock<[String]>([])
        let provider = store.provider { request in
            if request.fields["x-amz-copy-source"] != nil { copies.withLock { $0.append(request.target) } }
        }
        _ = try await provider.connect(expected: nil)
        copies.withLock { $0 = [] }
        let key = store.client().address.key("small")
        let fields: HTTPFields = ["Content-Type": "text/x-test", "x-amz-meta-author": "ada"]
        try #require(try await store.client().put(key, .bytes([1, 2, 3]), .none, fields: fields).isSuccess)
        let small = try #require(try await provider.item(at: "small"))
        let moved = try await provider.move("small", to: "moved", expecting: small.version)
        #expect(copies.withLock(\.self) == [])
        let there = try await store.client().head(store.client().address.key("moved"))
        #expect(there.fields["Content-Type"] == "text/x-test" && there.fields["x-amz-meta-author"] == "ada")
        #expect(S3EntityTag.plain(there.fields["ETag"] ?? "") == moved.version.rawValue && moved.size == small.size)
        let large = try await put("large", String(repeating: "large", count: 1 << 20), provider)
        _ = try await provider.move("large", to: "large moved", expecting: large.version)
        #expect(copies.withLock(\.count) == 1)
        #expect(try await names(provider) == ["moved", "large moved"])
    }
}
