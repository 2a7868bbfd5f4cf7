import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Object stores that were started for this run, and what only they do.
@Suite("S3 stores")
struct S3UploadTests {
    static let stores = ProviderForm.stores.filter { TestServer.started[$0.rawValue] != nil }

    /// 40 MiB: two whole parts and a half.
    private static let large = (0..<(40 << 20)).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }

    /// Requests of one provider, and after how many it is cut off.
    private final class Line: Sendable {
        private let state = Lock((requests: [HTTPRequest](), limit: Int.max))

        func pass(_ request: HTTPRequest) throws(ProviderError) {
            let isOver = state.withLock { state in
                if state.requests.count < state.limit { state.requests.append(request) }
                return state.requests.count >= state.limit
            }
            if isOver { throw ProviderError(.unavailable, "cut") }
        }

        /// Ends each request from the `count`th on, 1 for the next.
        func cut(at count: Int) { state.withLock { $0 = ([], count) } }

        var requests: [HTTPRequest] { state.withLock { $0.requests } }
        var parts: Int { requests.count { $0.query?.hasPrefix("partNumber=") ?? false } }
    }

    private static func content(in work: TemporaryDirectory) -> UploadContent {
        let path = work.appending("snapshot")
        Plain.write(large, to: Array(path.utf8))
        return UploadContent(
            snapshotPath: path, size: ByteCount(Int64(large.count)), checksum: .sha256(of: large))
    }

    @Test("A large document goes with one request, and in parts once such a request was cut", arguments: stores)
    func haste(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let work = try TemporaryDirectory()
        let line = Line()
        let provider = store.provider { (request) throws(ProviderError) in try line.pass(request) }
        _ = try await provider.connect(expected: nil)
        guard provider.abilities.copiesChecked else { return }
        let content = Self.content(in: work)
        func put(_ document: RelativePath) async throws -> RemoteItem {
            try await provider.put(document, content: content, attributes: Bench.attributes(), expecting: .absent)
        }
        line.cut(at: .max)
        let item = try await put("one")
        #expect(line.parts == 0)
        let upload = try #require(line.requests.firstIndex { $0.body.length == Int64(Self.large.count) })
        line.cut(at: upload + 1)
        #expect(await refusal { try await put("two") } == .unavailable)
        line.cut(at: .max)
        let other = try await put("two")
        #expect(line.parts == 3)
        for uploaded in [item, other] {
            let target = work.appending("fetched \(uploaded.path)")
            let fetched = try await provider.fetch(uploaded.path, version: uploaded.version, to: target) { _ in }
            #expect(fetched.checksum == content.checksum)
        }
    }

    /// In what daemon an upload goes on that was cut.
    enum Successor: CaseIterable { case same, next, nextOfStoreThatDoesNotTell }

    @Test(
        "An upload that is cut at any step goes on where it was, in the next daemon too", arguments: stores,
        Successor.allCases)
    func resumed(form: ProviderForm, successor: Successor) async throws {
        let store = try await S3TestStore(form.rawValue)
        let work = try TemporaryDirectory()
        let line = Line()
        let provider = store.provider { (request) throws(ProviderError) in try line.pass(request) }
        _ = try await provider.connect(expected: nil)
        guard provider.abilities.copiesChecked else { return }
        provider.haste.noteSlow()
        let content = Self.content(in: work)
        var document: RelativePath = "whole"
        func put(_ provider: S3Provider) async throws -> RemoteItem {
            try await provider.put(document, content: content, attributes: Bench.attributes(), expecting: .absent)
        }
        /// One that knows of a slow way, and of begun uploads, only what the store says.
        func next() async throws -> S3Provider {
            if successor == .same { return provider }
            let next = store.provider { (request) throws(ProviderError) in try line.pass(request) }
            line.cut(at: .max)
            _ = try await next.connect(expected: nil)
            if successor == .nextOfStoreThatDoesNotTell { next.haste.found(begun: nil) }
            return next
        }
        line.cut(at: .max)
        _ = try await put(provider)
        let steps = line.requests.count
        #expect(line.parts == 3 && steps >= 8)
        // The last request removes what was staged.
        for step in 0..<steps - 1 {
            document = RelativePath([FileName(unchecked: Array("cut \(step)".utf8))])
            line.cut(at: step + 1)
            #expect(await refusal { try await put(provider) } == .unavailable)
            let sent = line.parts
            // The last was not sent.
            let wasBegun = line.requests.dropLast().contains { $0.query == "uploads=" && $0.method == "POST" }
            let next = try await next()
            line.cut(at: .max)
            let item = try await put(next)
            #expect(sent + line.parts <= 4, "at most one part is sent again (step \(step))")
            let whole = line.requests.count { $0.body.length == Int64(Self.large.count) }
            #expect(whole == 0 || successor != .same && !wasBegun, "what was begun goes on (step \(step))")
            let target = work.appending("fetched \(step)")
            let fetched = try await provider.fetch(document, version: item.version, to: target) { _ in }
            #expect(fetched.checksum == content.checksum)
        }
        let own = try await store.client().listAll(Array("my drive/.quire/".utf8))
        #expect(own.map(\.key) == [Array("my drive/.quire/store.json".utf8)], "nothing of the uploads is left")
    }

    @Test(
        "An upload that goes on after the document's time and mode were changed is published with those",
        arguments: stores)
    func changedMeanwhile(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let work = try TemporaryDirectory()
        let line = Line()
        let provider = store.provider { (request) throws(ProviderError) in try line.pass(request) }
        _ = try await provider.connect(expected: nil)
        guard provider.abilities.copiesChecked else { return }
        provider.haste.noteSlow()
        let content = Self.content(in: work)
        func put(_ attributes: RemoteAttributes) async throws -> RemoteItem {
            try await provider.put("document", content: content, attributes: attributes, expecting: .absent)
        }
        line.cut(at: .max)
        let before = RemoteAttributes(mtime: FileTime(seconds: 1_000_000, nanoseconds: 5), mode: 0o600)
        _ = try await provider.put("other", content: content, attributes: before, expecting: .absent)
        let last = try #require(line.requests.lastIndex { $0.query?.hasPrefix("partNumber=") ?? false })
        line.cut(at: last + 1)
        #expect(await refusal { try await put(before) } == .unavailable)
        line.cut(at: .max)
        let now = RemoteAttributes(mtime: FileTime(seconds: 2_000_000, nanoseconds: 6), mode: 0o755)
        let item = try await put(now)
        #expect(line.parts == 1)
        let client = store.client()
        let head = try await client.head(client.address.key("document"))
        #expect(S3Metadata.mtime(head) == now.mtime && S3Metadata.mode(head) == now.mode)
        #expect(head.fields["Content-Type"] == "application/octet-stream")
        let fetched = try await provider.fetch("document", version: item.version, to: work.appending("x")) { _ in }
        #expect(fetched.checksum == content.checksum)
    }

    @Test(
        "A document that is too large for one request has its own upload, which goes on where it was",
        arguments: stores)
    func veryLarge(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let work = try TemporaryDirectory()
        let line = Line()
        let provider = store.provider(mostInOne: 32 << 20) { (request) throws(ProviderError) in
            try line.pass(request)
        }
        _ = try await provider.connect(expected: nil)
        let other = store.provider()
        _ = try await other.connect(expected: nil)
        let client = store.client()
        let content = Self.content(in: work)
        var document: RelativePath = "whole"
        func put() async throws -> RemoteItem {
            try await provider.put(document, content: content, attributes: Bench.attributes(), expecting: .absent)
        }
        line.cut(at: .max)
        _ = try await put()
        let steps = line.requests.count
        #expect(line.parts == 3)
        // The last request removes what is known of the upload.
        for step in 0..<steps - 1 {
            document = RelativePath([FileName(unchecked: Array("cut \(step)".utf8))])
            let key = client.address.key(document)
            // Of another device, with other content.
            let foreign = try await client.beginUpload(
                key, S3Metadata.fields(Bench.attributes(), .sha256(of: [UInt8(step)])))
            line.cut(at: step + 1)
            #expect(await refusal { try await put() } == .unavailable)
            let sent = line.parts
            line.cut(at: .max)
            let isThere = try await client.head(key).isSuccess
            let item = isThere ? try #require(try await other.item(at: document)) : try await put()
            #expect(sent + line.parts <= 4, "at most one part is sent again (step \(step))")
            #expect(try await client.head(key).fields[S3Metadata.checksum] == content.checksum.description)
            #expect(try await client.uploads(key).contains { $0.id == foreign }, "it is the other device's")
            let target = work.appending("fetched \(step)")
            let fetched = try await other.fetch(document, version: item.version, to: target) { _ in }
            #expect(fetched.checksum == content.checksum)
        }
    }

    @Test("What is known of an upload goes with it after a week", arguments: stores)
    func sweptUploads(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let work = try TemporaryDirectory()
        let line = Line()
        let provider = store.provider(mostInOne: 32 << 20) { (request) throws(ProviderError) in
            try line.pass(request)
        }
        _ = try await provider.connect(expected: nil)
        let client = store.client()
        let content = Self.content(in: work)
        line.cut(at: .max)
        _ = try await provider.put("whole", content: content, attributes: Bench.attributes(), expecting: .absent)
        let firstPart = try #require(line.requests.firstIndex { $0.query?.hasPrefix("partNumber=") ?? false })
        line.cut(at: firstPart + 2)
        #expect(
            await refusal {
                try await provider.put("a b", content: content, attributes: Bench.attributes(), expecting: .absent)
            } == .unavailable)
        let key = client.address.key("a b")
        let temporary = client.address.directoryKey(StoreLayout.temporary)
        let sweep = S3Sweep(client: client)
        let now = SystemCalls.now()
        await sweep.run(at: FileTime(seconds: now.seconds + 6 * 86_400, nanoseconds: 0))
        let upload = try #require(try await client.uploads(key).first)
        #expect(try await client.parts(key, upload.id)?.values.allSatisfy { $0.modified != .unknown } ?? false)
        #expect(try await client.listAll(temporary).count == 1)
        await sweep.run(at: FileTime(seconds: now.seconds + 8 * 86_400, nanoseconds: 0))
        #expect(try await client.uploads(key).isEmpty)
        #expect(try await client.listAll(temporary).isEmpty)
    }

    @Test(
        "What was staged and is gone is sent again; the name is not blamed", arguments: stores,
        ["before the end of the parts", "before the copy"])
    func stagedIsGone(form: ProviderForm, moment: String) async throws {
        let store = try await S3TestStore(form.rawValue)
        let work = try TemporaryDirectory()
        let content = Self.content(in: work)
        let other = store.client()
        let staged = other.address.key(StoreLayout.temporary) + Array("/\(content.checksum)".utf8)
        let isOver = Lock(false)
        let provider = store.provider { (request) async throws(ProviderError) in
            let isCopy = request.fields["x-amz-copy-source"] != nil
            let isEnd = request.method == "POST" && request.query?.hasPrefix("uploadId=") ?? false
            guard moment == "before the copy" ? isCopy : isEnd, request.path.contains("/.quire/tmp/") || isCopy,
                !isOver.withLock({ $0 })
            else { return }
            // As another device does that has the same content for another document.
            if isCopy {
                guard request.path.hasSuffix("/document") else { return }
                _ = try await other.delete(staged)
            } else {
                for upload in try await other.uploads(staged) { try await other.abort(upload) }
            }
            isOver.withLock { $0 = true }
        }
        _ = try await provider.connect(expected: nil)
        guard provider.abilities.copiesChecked else { return }
        provider.haste.noteSlow()
        func put() async throws -> RemoteItem {
            try await provider.put("document", content: content, attributes: Bench.attributes(), expecting: .absent)
        }
        #expect(await refusal { try await put() } == .failed)
        #expect(isOver.withLock { $0 })
        let item = try await put()
        let fetched = try await provider.fetch("document", version: item.version, to: work.appending("x")) { _ in }
        #expect(fetched.checksum == content.checksum)
    }

    @Test(
        "More than a page is listed whole, by its directories or one after the other", arguments: stores,
        [(above: "", 3), ("", 300), ("one/two/", 3), ("one/", 1_100)])
    func pages(form: ProviderForm, tree: (above: String, directories: Int)) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = store.provider()
        _ = try await provider.connect(expected: nil)
        let client = store.client()
        // Names with the same beginnings, of which some sort before a slash, or end within it by bytes alone.
        let letters = ["d", "d-", "d ", "dä", "dö", "d%2F", "D"]
        let paths =
            (0..<1_200).map {
                let directory = $0 % tree.directories
                return "\(tree.above)\(letters[directory % letters.count])\(directory)/\($0)"
            } + ["top", "\(tree.above)beside", "\(tree.above)d-1 beside"]
        await withTaskGroup(of: Void.self) { group in
            for start in 0..<16 {
                group.addTask {
                    for index in stride(from: start, to: paths.count, by: 16) {
                        _ = try? await client.put(Array("my drive/\(paths[index])".utf8), .bytes([1]), .none)
                    }
                }
            }
        }
        guard case .everything(let items, _) = try await provider.changes(since: nil) else {
            Issue.record("a first listing names everything")
            return
        }
        #expect(Set(items.filter { $0.kind == .file }.map { "\($0.path)" }) == Set(paths))
        let above = tree.above.count { $0 == "/" }
        #expect(items.count == Set(paths).count + tree.directories + above)
    }

    @Test("What a bucket keeps of an object is listed, the newest first, and fetched", arguments: stores)
    func versions(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let plain = store.provider()
        _ = try await plain.connect(expected: nil)
        #expect(!plain.capabilities.earlierVersions)
        #expect(await refusal { try await plain.earlierVersions(of: "a") } == .unsupported)
        try await store.keepVersions()
        let provider = store.provider()
        _ = try await provider.connect(expected: nil)
        #expect(provider.capabilities.earlierVersions)
        let work = try TemporaryDirectory()
        // The same bytes twice are two versions. Another object's name begins with this one's.
        let texts = ["one", "two two", "one", "present"]
        var expecting = Precondition.absent
        for text in texts {
            let path = work.appending("snapshot")
            Plain.write(text, to: path)
            let bytes = Array(text.utf8)
            let content = UploadContent(
                snapshotPath: path, size: ByteCount(Int64(bytes.count)), checksum: .sha256(of: bytes))
            let item = try await provider.put(
                "a+b %41", content: content, attributes: Bench.attributes(), expecting: expecting)
            expecting = .version(item.version)
            if text == "present" {
                _ = try await provider.put(
                    "a+b %41c", content: content, attributes: Bench.attributes(), expecting: .absent)
            }
        }
        let earlier = try await provider.earlierVersions(of: "a+b %41")
        #expect(earlier.map(\.size.bytes) == [3, 7, 3] && Set(earlier.map(\.version)).count == 3)
        for (number, text) in ["one", "two two", "one"].enumerated() {
            let target = work.appending("fetched \(number)")
            let fetched = try await provider.fetch("a+b %41", version: earlier[number].version, to: target) { _ in }
            #expect(Plain.text(target) == text && fetched.checksum == .sha256(of: Array(text.utf8)))
        }
        #expect(await refusal { try await provider.earlierVersions(of: "none") } == .notFound)
        let unknown = S3Version(identifier: "none").version
        let target = work.appending("unknown")
        #expect(await refusal { try await provider.fetch("a+b %41", version: unknown, to: target) { _ in } } != nil)
    }

    @Test("Without the bucket there is no store, rather than an empty one", arguments: stores)
    func noBucket(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let provider = store.provider()
        _ = try await provider.connect(expected: nil)
        try await store.remove()
        #expect(await refusal { try await provider.changes(since: nil) } == .unavailable)
        #expect(await refusal { try await provider.item(at: "a") } == .unavailable)
        #expect(await refusal { try await provider.connect(expected: nil) } == .unavailable)
    }
}
