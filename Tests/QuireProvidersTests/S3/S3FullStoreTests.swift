import QuireCore
import Synchronization
import Testing

@testable import QuireProviders

/// Object stores that are full when a device connects.
@Suite("Full object stores")
struct S3FullStoreTests {
    /// Those that heed conditions on DELETE.
    static let stores = S3UploadTests.stores.filter { $0 != .ceph }

    private final class Room: Sendable {
        private let state = Lock(false)

        var isThere: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    /// A provider of another device, for which the store has no room until `room` is there.
    private func late(_ store: S3TestStore, _ room: Room = Room()) -> S3Provider {
        store.provider { (request) throws(ProviderError) in
            if ["PUT", "POST"].contains(request.method), !room.isThere {
                throw ProviderError(.noSpace, "the store says 507 Insufficient Storage")
            }
        }
    }

    /// A store with documents `a` and `b`, a directory `d`, and two records of changes, and its identity.
    private func filled(_ store: S3TestStore) async throws -> (identity: String, a: RemoteItem, b: RemoteItem) {
        let provider = store.provider()
        let identity = try await provider.connect(expected: nil)
        let work = try TemporaryDirectory()
        func put(_ path: RelativePath) async throws -> RemoteItem {
            let bytes = Array("content of \(path)".utf8)
            let file = work.appending("snapshot")
            Plain.write(bytes, to: Array(file.utf8))
            return try await provider.put(
                path,
                content: UploadContent(
                    snapshotPath: file, size: ByteCount(Int64(bytes.count)), checksum: .sha256(of: bytes)),
                attributes: Bench.attributes(), expecting: .absent)
        }
        let (a, b) = (try await put("a"), try await put("b"))
        _ = try await provider.createDirectory("d", attributes: Bench.attributes())
        let records = S3ChangeRecords(client: store.client(), createsOnce: true)
        for number in 1...2 { _ = try await records.create(number, ChangeRecord(nil).bytes()) }
        return (identity, a, b)
    }

    @Test(
        "Documents are removed from a full store under their conditions; what needs room waits for it",
        arguments: stores)
    func deletions(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let (identity, a, b) = try await filled(store)
        let room = Room()
        let provider = late(store, room)
        #expect(try await provider.connect(expected: identity) == identity)
        #expect(provider.capabilities.conditionalWrites == .untried)
        #expect(
            await refusal { try await provider.delete("a", expecting: ProviderVersion("another")) } == .conditionFailed)
        #expect(try await provider.item(at: "a")?.version == a.version)
        try await provider.delete("a", expecting: a.version)
        #expect(try await provider.item(at: "a") == nil)
        #expect(await refusal { try await provider.delete("d", expecting: nil) } == .noSpace)
        #expect(await refusal { try await provider.move("b", to: "c", expecting: b.version) } == .noSpace)
        #expect(provider.capabilities.conditionalWrites == .untried)
        // The oldest record was what it was tried on; the newest is there, and so is everything else.
        let records = S3ChangeRecords(client: store.client(), createsOnce: true)
        #expect(try await records.numbers() == [2])
        room.isThere = true
        try await provider.delete("d", expecting: nil)
        #expect(provider.capabilities.conditionalWrites == .atomic)
        #expect(try await provider.move("b", to: "c", expecting: b.version).path == "c")
    }

    @Test("Where there is nothing that may be lost, a full store is read only", arguments: stores)
    func nothingToTryOn(form: ProviderForm) async throws {
        let store = try await S3TestStore(form.rawValue)
        let (identity, a, _) = try await filled(store)
        try await S3ChangeRecords(client: store.client(), createsOnce: true).remove(1)
        let provider = late(store)
        _ = try await provider.connect(expected: identity)
        #expect(await refusal { try await provider.delete("a", expecting: a.version) } == .noSpace)
        #expect(try await provider.item(at: "a") != nil)
    }

    @Test("Where a store that has room again heeds no conditions, nothing is written before it was connected anew")
    func lossy() async throws {
        let store = try S3StandIn()
        let identity = try await S3Provider(client: store.client).connect(expected: nil)
        store.with { state in
            state.ignoresConditions = true
            state.scripts = [.init(beginning: "PUT ", status: "507 Insufficient Storage")]
        }
        let provider = S3Provider(client: store.client)
        #expect(try await provider.connect(expected: identity) == identity)
        #expect(provider.capabilities.conditionalWrites == .untried)
        func makeDirectory() async throws {
            _ = try await provider.createDirectory("d", attributes: Bench.attributes())
        }
        #expect(await refusal { try await makeDirectory() } == .noSpace)
        store.with { $0.scripts = [] }
        let keys = store.with { $0.objects.keys.count }
        #expect(await refusal { try await makeDirectory() } == .unavailable)
        #expect(await refusal { try await makeDirectory() } == .unavailable)
        #expect(store.with { $0.objects.keys.count } == keys)
        #expect(try await provider.connect(expected: identity) == identity)
        #expect(provider.capabilities.conditionalWrites == .detected)
        try await makeDirectory()
    }

    /// What a store answers a deletion: whether it heeds conditions, and wants tags without quotes.
    private enum Store: CaseIterable { case heedsNone, ignoresQuietly, wantsQuotes, wantsNone }

    @Test("A full store that heeds no conditions loses a record at most, and is not trusted", arguments: Store.allCases)
    private func conditions(store: Store) async throws {
        let deleted = Lock<[String]>([])
        let server = try LoopbackServer { peer in
            while let request = peer.request() {
                let words = request.head.split(separator: " ")
                if words[0] == "GET" {
                    let name = request.head.contains("changes") ? ".quire/changes/00000000000" : "none"
                    let keys = name == "none" ? [] : ["\(name)1", "\(name)2"]
                    let rows = keys.map { "<Contents><Key>\($0)</Key><Size>1</Size><ETag>\"7\"</ETag></Contents>" }
                    peer.answer("200 OK", [], "<ListBucketResult>\(rows.joined())</ListBucketResult>")
                } else if words[0] == "HEAD" {
                    peer.answer(
                        store == .ignoresQuietly && !deleted.withLock { $0.isEmpty } ? "404 Not Found" : "200 OK")
                } else {
                    let tag = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("if-match") }
                    let isRight = tag?.hasSuffix(store == .wantsNone ? " 7" : "\"7\"") ?? false
                    if isRight || store == .heedsNone || store == .ignoresQuietly {
                        deleted.withLock { $0.append(String(words[1])) }
                    }
                    let refuses = !isRight && store != .heedsNone
                    peer.answer(refuses ? "412 Precondition Failed" : "204 No Content")
                }
            }
        }
        let origin = HTTPOrigin(isSecure: false, host: "127.0.0.1", port: server.port)
        let client = S3Client(S3Address(endpoint: origin, bucket: "b", prefix: ""), signer: nil)
        let found = try await S3DeletionProbe(client: client).run()
        switch store {
        case .heedsNone, .ignoresQuietly: #expect(found == nil)
        case .wantsQuotes: #expect(found?.deletesChecked == true && found?.wantsQuotes == true)
        case .wantsNone: #expect(found?.deletesChecked == true && found?.wantsQuotes == false)
        }
        #expect(deleted.withLock { $0 } == ["/b/.quire/changes/000000000001"])
    }
}
